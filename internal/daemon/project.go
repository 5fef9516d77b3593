package daemon

import (
	"podd/internal/trust"
	"podd/pkg/pod"
)

// project is what the configuration of a workspace adds, as far as it is trusted.
func (d *Daemon) project(dir string) pod.Project {
	followed, says := d.trust.Follow(dir)
	return pod.Project{
		Instructions: followed.Instructions, Source: trust.ConfigFile, Rules: followed.Rules, Says: says,
	}
}
