"""Who owns state, and who waits?"""
