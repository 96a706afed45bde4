"""How do bytes survive?"""
