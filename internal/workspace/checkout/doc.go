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
// Commits come home in two runs of git. One packs them in a sandbox that can only read; the
// other checks and stores them in the person's repository and never sees the checkout. git
// fetch would read the checkout's configuration while it can write the person's repository. A
// linked worktree would need the person's hooks and history to be writable. A checkout begins
// with git init, because clone --shared takes a branch of the source along, which can be in the
// way of podd/NAME, and copies shallow repositories.
//
// Rank 4: it imports package git and knows the sandbox only as a function.
package checkout
