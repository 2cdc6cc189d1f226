"""A function with loops over its data, cut at them; what it computes of the data without a loop is written as one."""
