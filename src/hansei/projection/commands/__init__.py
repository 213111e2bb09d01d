"""What a shell call really ran: its commands, what each is for, which files it touches.

`parsing.parse` is the door. A text becomes a tree (`bash`, `powershell`), the tree is followed the
way a shell would (`flow`), and what stands before a program is taken off (`wrappers`).
"""
