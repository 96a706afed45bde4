"""How does a request come in?"""
