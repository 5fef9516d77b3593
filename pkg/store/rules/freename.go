package rules

import "fmt"

// maxPodName is how long a pod's name may be, in bytes.
const maxPodName = 63

// FreeName is a name, or one like it, that is not taken.
func FreeName(name string, taken func(name string) (bool, error)) (string, error) {
	free := name
	for n := 2; ; n++ {
		is, err := taken(free)
		if err != nil || !is {
			return free, err
		}
		end := fmt.Sprintf("-%d", n)
		free = name[:min(len(name), maxPodName-len(end))] + end
	}
}
