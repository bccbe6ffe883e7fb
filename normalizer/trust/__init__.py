"""What the text around a call makes of it: made, doubted, or only shown (docs/trust.md has the rules).

`surroundings` is asked for each call and judges what stands before it:

- the sentence: `lead_ins`, by the tables `lead_in_*`; where it leaves it open, `open_lead_ins` and `told_lead_ins`;
- the line: `lines_of_code`, `block_quotes`, `line_signs`;
- who speaks: `turns`, `dialogues`, `told_results`;
- what a tag is part of: `documents`, `html`.

`words_behind` and `listed_steps` judge what follows. Nothing here knows a reading, a row or a dialect.
"""
