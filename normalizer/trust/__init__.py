"""Decide whether a call in a text is meant, or is content: quoted, an example, output (docs/trust.md has the rules).

`judging` decides. It uses the sentence before the call (`lead_ins`, with the phrases of `lexicon`), quotation marks
(`quotations`), elements of code (`code_elements`), the line (`lines_of_code`, `block_quotes`, `line_signs`, `layout`) and the
speaker (`turns`, `quoted_results`). `documents` and `html` decide whether a tag belongs to a document or a page. No module
here imports a reading, a row or a dialect.
"""
