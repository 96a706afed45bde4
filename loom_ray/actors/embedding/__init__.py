"""Where do vectors come from? One port, its backends, and the service that batches for them."""
