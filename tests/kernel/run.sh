#!/usr/bin/env bash
# Runs tests on the kernel of Debian 12 (6.1) in a virtual machine, without hardware support. It has what kernels of
# containers often lack (the module "tls"), and lacks what came later (several features of io_uring).
#
#   tests/kernel/run.sh [TEST...]     programs of build/release/bin; without a name: gyre_tls_test
#
# GTEST_FILTER chooses tests, as usual. The suites of single operations have tests that expect a packet to arrive at
# once, which it does not in the emulator.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bin=build/release/bin
[ $# -gt 0 ] || set -- gyre_tls_test

needed=()
command -v qemu-system-x86_64 >/dev/null || needed+=(qemu-system-x86)
command -v busybox >/dev/null || needed+=(busybox-static)
command -v cpio >/dev/null || needed+=(cpio)
if [ ${#needed[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${needed[@]}" >/dev/null
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"  # apt-get downloads as another user
find_kernel() { apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: //p' | head -1; }
kernel=$(find_kernel)
[ -n "$kernel" ] || { apt-get update -qq; kernel=$(find_kernel); }
(cd "$work" && apt-get download -qq "$kernel" && dpkg-deb -x ./*.deb kernel)

root=$work/root
mkdir -p "$root"/{bin,sbin,proc,sys,dev,tmp,root,lib}
cp "$(command -v busybox)" "$root/bin/busybox"
# The module "tls" loads ciphers when a connection asks for them. Those for the processor hang in the emulator.
modules=$(echo "$work"/kernel/lib/modules/*)
for folder in crypto lib net/tls; do
  mkdir -p "$root/lib/modules/${modules##*/}/kernel/$(dirname "$folder")"
  cp -r "$modules/kernel/$folder" "$root/lib/modules/${modules##*/}/kernel/$(dirname "$folder")/"
done
for name in gyre "$@"; do
  cp "$bin/$name" "$root/bin/"
  for library in $(ldd "$bin/$name" | grep -oE '/[^ ]+'); do
    mkdir -p "$root$(dirname "$library")"
    cp -nL "$library" "$root$library"
  done
done
cat >"$root/init" <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
ln -s /bin/busybox /sbin/modprobe
export PATH=/bin HOME=/root GTEST_FILTER='${GTEST_FILTER:-*}'
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
ip link set lo up
depmod
modprobe tls
export GYRE_KERNEL_TLS=on  # its ciphers are slow here
gyre doctor
failed=0
for name in $*; do
  for backend in io_uring epoll; do
    echo "== \$name on \$(uname -r), \$backend"
    GYRE_BACKEND=\$backend /bin/\$name --gtest_brief=1 2>&1 || failed=1
  done
done
echo "connections whose sending the kernel has encrypted: \$(sed -n 's/^TlsTxSw[^0-9]*//p' /proc/net/tls_stat)"
[ \$failed = 0 ] && echo "all passed in the virtual machine"
poweroff -f
END
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1 >"$work/image")

timeout 900 qemu-system-x86_64 -accel tcg -cpu max -m 2048 -smp 2 -nographic -no-reboot \
  -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/image" \
  -append 'console=ttyS0 quiet panic=-1 cryptomgr.notests' </dev/null |
  tee "$work/output"
grep -q 'all passed in the virtual machine' "$work/output"
