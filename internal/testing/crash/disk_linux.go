package crash

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// disk is a file system in a file whose power can be cut: what is not on the disk then is lost.
type disk struct {
	// dir has the image, and what no cut concerns. mount is where the file system is.
	dir, mount, options string
	cuts                int
}

// newDisk makes a file system. Only root may.
func newDisk(ctx context.Context, dir string, seed uint64) (*disk, error) {
	d := &disk{dir: dir, mount: filepath.Join(dir, "disk"), options: []string{"data=ordered", "data=writeback,noauto_da_alloc"}[seed%2]}
	if err := errors.Join(os.MkdirAll(d.mount, 0o700), os.WriteFile(d.image(), nil, 0o600), os.Truncate(d.image(), 512<<20), d.newBoot()); err != nil {
		return nil, err
	}
	if err := run(ctx, "mkfs.ext4", "-q", "-F", d.image()); err != nil {
		return nil, err
	}
	return d, d.on(ctx)
}

func (d *disk) image() string { return filepath.Join(d.dir, fmt.Sprintf("image-%d", d.cuts)) }
func (d *disk) boot() string  { return filepath.Join(d.dir, "boot") }

func run(ctx context.Context, argv ...string) error {
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out)
	}
	return nil
}

func (d *disk) on(ctx context.Context) error {
	return run(ctx, "mount", "-o", "loop,"+d.options, d.image(), d.mount)
}

// off ends all processes that have something of the disk and takes it away. Sandboxes that others
// made meanwhile may still see it.
func (d *disk) off(ctx context.Context) error {
	for d.killAll() {
		if !pause(ctx, busyPause) {
			return fmt.Errorf("processes still use %s", d.mount)
		}
	}
	if err := unix.Unmount(d.mount, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("unmount %s: %w", d.mount, err)
	}
	return nil
}

// busyPause is the pause before the next look.
const busyPause = 4 * retryPause

// newBoot makes the identity of a boot of the machine.
func (d *disk) newBoot() error {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return os.WriteFile(d.boot(), fmt.Appendf(nil, "%x-%x-%x-%x-%x\n", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), 0o600)
}

// machine is the command line that runs podd as on a machine with this boot.
func (d *disk) machine() []string {
	return []string{"unshare", "-m", "--", "sh", "-c", `mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"`, d.boot()}
}

// sync writes all to the disk.
func (d *disk) sync() error {
	dir, err := os.Open(d.mount)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Syncfs(int(dir.Fd()))
}

// cut cuts the power. A random part of what was not synced is on the disk already.
func (d *disk) cut(ctx context.Context, random *mathrand.Rand) error {
	if err := d.some(random); err != nil {
		return err
	}
	dir, err := os.Open(d.mount)
	if err != nil {
		return err
	}
	// EXT4_IOC_SHUTDOWN without a flush of the log.
	const shutdown, noFlush = 0x8004587d, 2
	err = errors.Join(unix.IoctlSetPointerInt(int(dir.Fd()), shutdown, noFlush), dir.Close())
	if err == nil {
		err = d.off(ctx)
	}
	if err != nil {
		return err
	}
	// A sandbox may still have the dead file system: the next one is on a copy of what it left.
	old := d.image()
	d.cuts++
	if err = run(ctx, "cp", "--sparse=always", old, d.image()); err != nil {
		return err
	}
	return errors.Join(os.Remove(old), d.newBoot(), d.on(ctx))
}

// some writes random pages of files to the disk, and now and then a whole file.
func (d *disk) some(random *mathrand.Rand) error {
	return filepath.WalkDir(d.mount, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !e.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		const page, write = 4096, unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
		share := random.IntN(4)
		for at := int64(0); at < info.Size() && at < 1<<24; at += page {
			if random.IntN(4) < share {
				err = errors.Join(err, unix.SyncFileRange(int(file.Fd()), at, page, write))
			}
		}
		return err
	})
}

// killAll kills all processes that have something of the disk, as a power cut does, and says whether
// there were any.
func (d *disk) killAll() (some bool) {
	found, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range found {
		pid, _ := strconv.Atoi(filepath.Base(proc))
		if pid != os.Getpid() && d.uses(proc) {
			some = true
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return some
}

// uses says whether a process works on the disk, or began with a path on it.
func (d *disk) uses(proc string) bool {
	// What cannot be read has just ended.
	at, _ := os.Readlink(filepath.Join(proc, "cwd"))
	line, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
	env, _ := os.ReadFile(filepath.Join(proc, "environ"))
	return strings.Contains(at+"\x00"+string(line)+"\x00"+string(env), d.mount+"/")
}

// close removes the disk; keep keeps its image.
func (d *disk) close(ctx context.Context, keep bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundTime)
	defer cancel()
	if err := d.off(ctx); err != nil || keep {
		return err
	}
	return os.RemoveAll(d.dir)
}
