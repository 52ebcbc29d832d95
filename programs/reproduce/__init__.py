"""The paper once more: its studies as a list, the runs that they come to, and a page of what held."""
