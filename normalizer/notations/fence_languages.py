"""Names of languages behind the opening of a code fence, in lower case."""

from __future__ import annotations

__all__ = ["LANGUAGES"]

_NAMES = """
ada applescript asm astro awk bash bat batch bib c c# c++ cc clj clojure cmake cmd cobol code coffee coffeescript
console cpp cs csharp css csv cu cuda cypher cython d dart diff docker dockerfile dot elisp elixir elm env erb erl
erlang ex f# fish fortran fsharp gherkin glsl go golang gradle graphql groovy h haml handlebars haskell hcl hpp hs
html http ini java javascript jinja jinja2 jl js json json5 jsonc jsonl jsx julia jupyter kotlin kt latex less lisp
log lua make makefile markdown mathematica matlab md mdx mermaid mjs mojo nginx nim nix objc objective-c objectivec
ocaml octave pascal patch perl php pl plaintext plantuml plsql powershell prisma prolog properties proto protobuf ps1
pug puppet py py3 pycon pyi python python3 pyx r rb regex rs rst ruby rust sass scala scheme scss sh shell sol
solidity sparql sql svelte svg swift systemverilog tcl terraform tex text tf toml ts tsx txt typescript typst v vb vba
verilog vhdl vim vue wasm wat wgsl xhtml xml xsl xslt yaml yml zig zsh
"""
LANGUAGES = frozenset(_NAMES.split())
