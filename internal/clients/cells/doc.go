// Package cells measures and cuts text by what a terminal draws: graphemes and the columns
// they take, as bubbletea counts them. Text is sanitised before it comes here.
//
// Rank 0. Its functions may be called from any goroutine.
package cells
