"""One labelling in shards that many machines share: planned, done by anybody, counted, put together."""
