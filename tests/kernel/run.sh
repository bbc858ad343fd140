#!/usr/bin/env bash
# Runs tests on the kernel of Debian 12 (6.1) in a virtual machine, without hardware support. It has what kernels of
# containers often lack (the module "tls"), and lacks what came later (several features of io_uring).
#
#   tests/kernel/run.sh [TEST...]     programs of build/release/bin; without a name: gyre_tls_test
#   tests/kernel/run.sh contract      gyre_contract_test, which chooses all backends itself
#
# KERNEL_OF=bullseye takes the kernel of that release of Debian (5.10), on which gyre uses epoll.
# GTEST_FILTER chooses tests, as usual. What fails is repeated alone, twice: some tests of single operations expect that
# a packet arrives at once, which it does not always do in the emulator.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bin=build/release/bin
backends="io_uring epoll"
[ -z "${KERNEL_OF:-}" ] || backends=epoll
if [ "$*" = contract ]; then
  set -- gyre_contract_test
  backends=auto
fi
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
apt=()
if [ -n "${KERNEL_OF:-}" ]; then  # packages of that release, without a change of the system's own lists
  mkdir -p "$work"/apt/{sources,state/lists/partial,cache/archives/partial}
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
    [ ! -s "$file" ] || sed "s/$release/$KERNEL_OF/g" "$file" >"$work/apt/sources/${file##*/}"
  done
  apt=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/apt/sources" -o "Dir::State=$work/apt/state"
    -o "Dir::Cache=$work/apt/cache" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" update -qq || { echo "skipped: the packages of $KERNEL_OF cannot be had"; exit 77; }
fi
find_kernel() {
  apt-cache "${apt[@]}" depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: //p' | head -1
}
kernel=$(find_kernel)
[ -n "$kernel" ] || { apt-get update -qq; kernel=$(find_kernel); }
(cd "$work" && apt-get "${apt[@]}" download -qq "$kernel" && dpkg-deb -x ./*.deb kernel)

root=$work/root
mkdir -p "$root"/{bin,sbin,proc,sys,dev,tmp,root,lib}
cp "$(command -v busybox)" "$root/bin/busybox"
# The module "tls" loads ciphers when a connection asks for them. Those for the processor hang in the emulator.
modules=$(echo "$work"/kernel/lib/modules/*)
for folder in crypto lib net/tls; do
  [ -e "$modules/kernel/$folder" ] || continue
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
run() {
  for attempt in 1 2 3; do
    "/bin/\$1" --gtest_brief=1 --gtest_color=no >/tmp/output 2>&1 && { tail -n 2 /tmp/output; return 0; }
    code=\$?
    cat /tmp/output
    [ \$code = 1 ] || return 1  # it has not run all tests
    GTEST_FILTER=\$(sed -n 's/^\[  FAILED  \] \([^ ,]*\.[^ ,]*\).*/\1/p' /tmp/output | sort -u | tr '\n' ':')
    [ -n "\$GTEST_FILTER" ] || return 1
    echo "== again: \$GTEST_FILTER"
  done
  return 1
}
failed=0
for name in $*; do
  for backend in $backends; do
    echo "== \$name on \$(uname -r), \$backend"
    export GYRE_BACKEND=\$backend GTEST_FILTER='${GTEST_FILTER:-*}'
    run \$name || failed=1
  done
done
encrypted=\$(sed -n 's/^TlsTxSw[^0-9]*//p' /proc/net/tls_stat 2>/dev/null)
echo "connections whose sending the kernel has encrypted: \$encrypted"
[ \$failed = 0 ] && echo "all passed in the virtual machine"
poweroff -f
END
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1 >"$work/image")

timeout 900 qemu-system-x86_64 -accel tcg -cpu max -m 2048 -smp 2 -nographic -no-reboot \
  -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/image" \
  -append 'console=ttyS0 quiet panic=-1 no_timer_check cryptomgr.notests' </dev/null |
  tee "$work/output"
grep -q 'all passed in the virtual machine' "$work/output"
