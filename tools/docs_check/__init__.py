"""What tools/check_docs.py and tools/transcripts.py are made of. Standard library only, Python 3.9."""
