// Package cells measures and cuts text by what a terminal draws: graphemes and the columns
// they take. Text is sanitised before it comes here.
//
// Rank 0, pure. It is the home of displaywidth, by which bubbletea measures too.
package cells
