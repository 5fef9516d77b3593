package item

import "strings"

// PodIDPrefix is what a pod's id begins with. No name does.
const PodIDPrefix = "pod_"

// MaxPodName is the longest name of a pod, in bytes.
const MaxPodName = 63

// ValidPodName says whether a name may be a pod's: 1 to 63 lower-case letters, digits and
// dashes, not a dash first. It has a letter, so that it is never taken for a number.
func ValidPodName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= MaxPodName && name[0] != '-' && strings.ContainsAny(name, letters) &&
		strings.Trim(name, letters+"0123456789-") == ""
}

// ValidPodRef says whether a text may be a pod's name or id.
func ValidPodRef(ref string) bool { return ValidPodName(strings.TrimPrefix(ref, PodIDPrefix)) }
