// Package picture makes images of bytes: PNG, JPEG, GIF and WebP, told apart by what they are
// and not by their names. An image that is larger than models look at is reduced.
//
// The same bytes give the same image. Functions may be called from any goroutine; one image is
// decoded at a time, because a large one takes much memory.
package picture
