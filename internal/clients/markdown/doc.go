// Package markdown turns the Markdown of a model into lines to show. CommonMark is parsed by
// goldmark; tables, strikethrough and the boxes of tasks are parsed here.
//
// A Stream takes a text in pieces and says which lines are final: all top-level blocks but
// the last. However a text is cut into pieces, its final lines are those of the whole. A
// link definition applies to its own block and to what follows it.
//
// Text is sanitised after parsing, leaf by leaf, because an entity such as &#27; becomes a
// control character in the parser. HTML is text.
//
// Hostile text costs no more than its size allows: a paragraph, heading or cell over
// maxLeaf stays plain, and containers nest up to maxDepth.
//
// Rank 2, pure. It is the home of goldmark, whose parser alone is linked.
package markdown
