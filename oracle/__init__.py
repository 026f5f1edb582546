"""What annotated boxes give: crops for Instruction Following, masks for Visual Consistency."""
