// Package checkout gives pods checkouts of their own of a person's repository.
//
// A checkout is a repository in podd's state directory that borrows the objects of the person's
// and is on a branch of its own. The person's repository keeps the base, and later the branch's
// commits, by a reference that podd moves.
//
// podd runs git in the sandbox of commands, with no hooks, no network and none of the person's
// configuration: what runs on a checkout can only read the person's repository. What changes that
// runs there alone, on objects that git has checked, and never reads a checkout's configuration.
//
// Rank 4: it imports package git and knows the sandbox only as a function.
package checkout
