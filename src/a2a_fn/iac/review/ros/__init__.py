"""Rules for ROS templates.

A family is a module with `RULES`, the rules it speaks for, and `CHECKS`, functions from a
`Template` to findings. A new one needs its own file and a line in `FAMILIES`.
"""
