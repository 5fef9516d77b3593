// Package kitty shows pictures in terminals that know kitty's graphics protocol with Unicode
// placeholders (https://sw.kovidgoyal.net/kitty/graphics-protocol): the terminal gets a picture
// under a number, and draws it wherever characters of a screen stand for it. So who draws the
// screen moves a picture as it moves text.
//
// Rank 0. It is the home of ultraviolet, whose events are what bubbletea hands on of a
// terminal's answers.
package kitty
