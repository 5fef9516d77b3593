// Package skills reads Agent Skills: directories with a SKILL.md. Its front matter says
// what the skill is called and when to use it; the text below says how to do the work.
//
// Each request has the names and descriptions. A model gets a body through the skill
// tool, and reads the files beside it with its other tools. A skill in a workspace is the
// workspace's word; one in the user's own directory is the user's. podd reads all of it
// within a pod's scope, bounds it, and removes characters that a person would not see. It
// leaves out a broken skill, with a sentence.
//
// This package is the home of the YAML library.
package skills
