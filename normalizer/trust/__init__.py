"""What decides whether a call in a text is meant (docs/trust.md has the rules).

`judging` decides. It asks the sentence before the call (`lead_ins`, by the phrases that `lexicon` reads), `quotations`,
`code_elements`, the line (`lines_of_code`, `block_quotes`, `line_signs`, `layout`) and who speaks (`turns`, `told_results`).
`documents` and `html` tell what a tag is part of. Nothing here knows a reading, a row or a dialect.
"""
