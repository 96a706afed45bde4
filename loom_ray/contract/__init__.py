"""What may be asked of the server, and how does it answer?"""
