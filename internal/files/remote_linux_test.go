package files

import "testing"

// What others may change is read at each look; what only this machine changes is watched.
func TestRemote(t *testing.T) {
	for name, kind := range map[string]uint32{"nfs": 0x6969, "cifs": 0xff534d42, "smb2": 0xfe534d42, "9p": 0x01021997, "fuse": 0x65735546, "ceph": 0x00c36400} {
		if !Remote(kind) {
			t.Errorf("%s is watched", name)
		}
	}
	for name, kind := range map[string]uint32{"ext4": 0xef53, "xfs": 0x58465342, "btrfs": 0x9123683e, "tmpfs": 0x01021994, "overlay": 0x794c7630, "zfs": 0x2fc12fc1} {
		if Remote(kind) {
			t.Errorf("%s is not watched", name)
		}
	}
}
