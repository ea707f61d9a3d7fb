"""What tools/course.py is made of. Standard library only, Python 3.9 or later."""
