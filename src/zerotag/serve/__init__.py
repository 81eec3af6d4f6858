"""The HTTP service and its page: many clients share batches, and none of them can take the service down."""
