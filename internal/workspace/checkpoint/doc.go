// Package checkpoint keeps what the files of a directory were, and takes changes back.
//
// A checkpoint is a commit in a bare git repository of podd's own, one a directory, that stock
// git reads. It has the bytes of files, their permission bits, the text of links and empty
// directories; not owners, times, attributes or hard links. Trees have the real permission
// bits, which git reads as 644 or 755. It leaves out what git ignores as a whole directory,
// every .git, files that are too large, and what is neither a file nor a link nor a directory.
// Left-out files that a file tool named are in it, and named in its commit's message.
//
// Changes are taken back path by path, by one rule. The agent left A, the file is C now, B is
// wanted: where C is A, B is written; where C is B, nothing is done; otherwise it is a conflict,
// and C stays.
package checkpoint
