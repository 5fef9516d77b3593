// Package skills reads Agent Skills: directories with a SKILL.md that says, in its front
// matter, what the skill is called and when to use it, and below that how the work is
// done.
//
// Names and descriptions are sent with each request, bodies when a model asks for one by
// the skill tool, files beside them when it reads them. What lies in a workspace is the
// workspace's word; what lies in the user's own directory is the user's. All of it is
// read within a pod's scope, bounded, and freed of what a person would not see. A skill
// that is broken is left out, with a sentence.
//
// This package is the home of the YAML library.
package skills
