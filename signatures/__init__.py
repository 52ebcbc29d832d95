"""What each role is asked, and the type it must return.

A signature's docstring is the task instruction, in the meaning of the paper's template; it is the only text that
an optimiser rewrites. The pydantic models carry the constraints, because DSPy enforces a type's own constraints
and not those written on an output field.
"""
