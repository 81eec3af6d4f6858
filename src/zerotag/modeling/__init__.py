"""The network: encoders, heads, losses."""
