//! The networks: a namespace for each server, with a link to the clients and one to the database.

use std::ffi::OsString;
use std::fs::File;
use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;

use super::NODES;
use xtask::Result;
use xtask::process;

const DEADLINE: Duration = Duration::from_secs(20);

/// The other end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Clients,
    Database,
}

impl Side {
    const BOTH: [Self; 2] = [Self::Clients, Self::Database];

    fn bridge(self) -> &'static str {
        match self {
            Self::Clients => "unodes-c",
            Self::Database => "unodes-d",
        }
    }

    /// The address of this machine on that side.
    pub(super) fn host(self) -> Ipv4Addr {
        self.address(0)
    }

    /// The address of a server on that side.
    pub(super) fn node(self, node: usize) -> Ipv4Addr {
        self.address(u8::try_from(node).unwrap_or(u8::MAX).saturating_add(10))
    }

    fn address(self, last: u8) -> Ipv4Addr {
        let third = match self {
            Self::Clients => 1,
            Self::Database => 2,
        };
        Ipv4Addr::new(10, 213, third, last.max(1))
    }

    fn link(self, node: usize) -> String {
        format!("{}{node}", self.bridge())
    }
}

/// The networks. They are removed when this is dropped.
#[derive(Debug)]
pub(super) struct Network {
    /// Held until the drop: each run uses the same names and addresses.
    _lock: File,
}

impl Network {
    /// Creates the networks, after removing what an earlier run left behind.
    ///
    /// # Errors
    /// When that is not permitted, or another run uses them.
    pub(super) fn new() -> Result<Self> {
        let lock = File::create(std::env::temp_dir().join("universe-nodes.lock"))?;
        lock.try_lock()
            .map_err(|_| "another run of the same chore uses its networks on this machine")?;
        clear();
        let network = Self { _lock: lock };
        for side in Side::BOTH {
            let bridge = side.bridge();
            ip(&["link", "add", bridge, "type", "bridge"])?;
            ip(&["addr", "add", &format!("{}/24", side.host()), "dev", bridge])?;
            ip(&["link", "set", bridge, "up"])?;
        }
        for node in 0..NODES {
            let space = space(node);
            ip(&["netns", "add", &space])?;
            ip(&["-n", &space, "link", "set", "lo", "up"])?;
            for side in Side::BOTH {
                let (link, inner) = (side.link(node), side.bridge());
                ip(&[
                    "link", "add", &link, "type", "veth", "peer", "name", inner, "netns", &space,
                ])?;
                let address = format!("{}/24", side.node(node));
                ip(&["-n", &space, "addr", "add", &address, "dev", inner])?;
                ip(&["-n", &space, "link", "set", inner, "up"])?;
                ip(&["link", "set", &link, "up"])?;
                join(node, side)?;
            }
        }
        Ok(network)
    }

    /// The command prefix that runs a program in the namespace of a server. The process becomes that program.
    pub(super) fn within(node: usize) -> Vec<OsString> {
        let space = space(node);
        ["netns", "exec", &space].map(OsString::from).to_vec()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        clear();
    }
}

/// Cuts a link: packets are lost, and neither end notices.
///
/// # Errors
/// When `ip` fails.
pub(super) fn cut(node: usize, side: Side) -> Result<()> {
    ip(&["link", "set", &side.link(node), "nomaster"])
}

/// Restores a link.
///
/// # Errors
/// When `ip` fails.
pub(super) fn join(node: usize, side: Side) -> Result<()> {
    ip(&["link", "set", &side.link(node), "master", side.bridge()])
}

/// Makes a link slow and lossy in both directions.
///
/// # Errors
/// When `tc` is missing, or this kernel supports neither method.
pub(super) fn slow(node: usize, side: Side) -> Result<()> {
    // Random delay and loss, if the kernel supports netem. Otherwise a narrow link, which delays queued packets and
    // drops the rest.
    let ways: [&[&str]; 2] = [
        &["netem", "delay", "60ms", "30ms", "loss", "3%"],
        &["tbf", "rate", "400kbit", "burst", "8kb", "latency", "250ms"],
    ];
    let mut outcome = Ok(());
    for way in ways {
        outcome = ends(node, side, "add", way);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Undoes [`slow`].
///
/// # Errors
/// When `tc` fails.
pub(super) fn quick(node: usize, side: Side) -> Result<()> {
    ends(node, side, "del", &[])
}

/// Changes the traffic control of a link at both ends.
fn ends(node: usize, side: Side, verb: &str, way: &[&str]) -> Result<()> {
    let inner = Network::within(node);
    let mut inside = Command::new("ip");
    inside.args(inner).arg("tc");
    for (mut tc, link) in
        [(Command::new("tc"), side.link(node)), (inside, side.bridge().to_owned())]
    {
        tc.args(["qdisc", verb, "dev", &link, "root"]).args(way);
        process::succeed(&mut tc, DEADLINE)?;
    }
    Ok(())
}

/// A sentence on why namespaces cannot be created here. `None` if they can.
pub(super) fn missing() -> Option<String> {
    const TRIAL: &str = "unodes-trial";
    let made = ip(&["netns", "add", TRIAL]);
    let _ = ip(&["netns", "del", TRIAL]);
    let problem = made.err()?;
    Some(format!("network namespaces cannot be made: {problem}"))
}

fn space(node: usize) -> String {
    format!("unodes-{node}")
}

/// Ends all processes in the namespaces, and removes the namespaces and the bridges.
fn clear() {
    // None of these may exist. Then each of these commands fails.
    for node in 0..NODES {
        let space = space(node);
        let pids = process::run(Command::new("ip").args(["netns", "pids", &space]), DEADLINE);
        for pid in pids.iter().flat_map(|found| found.stdout.lines()) {
            let _ = process::run(Command::new("kill").args(["-KILL", pid]), DEADLINE);
        }
        let _ = ip(&["netns", "del", &space]);
        for side in Side::BOTH {
            let _ = ip(&["link", "del", &side.link(node)]);
        }
    }
    for side in Side::BOTH {
        let _ = ip(&["link", "del", side.bridge()]);
    }
}

fn ip(arguments: &[&str]) -> Result<()> {
    process::succeed(Command::new("ip").args(arguments), DEADLINE)
}
