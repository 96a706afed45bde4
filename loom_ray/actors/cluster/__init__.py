"""How do the plain classes of this room become named, detached Ray actors? The only folder here that knows Ray."""
