//! The chokepoints of an area: systems and connections without which it falls apart.

use std::collections::BTreeMap;

use petgraph::algo::articulation_points::articulation_points;
use petgraph::algo::{bridges, tarjan_scc};
use petgraph::graph::{NodeIndex, UnGraph};

use crate::map::{Map, SystemIndex};

/// Where an area can be cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cuts {
    /// The systems that every route between some other systems of the area passes, by id.
    pub systems: Vec<CutSystem>,
    /// The connections that every route between some systems of the area takes, by the ids of their ends.
    pub bridges: Vec<Bridge>,
}

/// A system without which an area falls apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutSystem {
    /// The system.
    pub system: SystemIndex,
    /// How many systems are then cut off from the largest remaining piece.
    pub cut_off: usize,
}

/// A connection without which an area falls apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bridge {
    /// The end with the smaller id.
    pub from: SystemIndex,
    /// The other end.
    pub to: SystemIndex,
    /// How many systems the smaller of the two pieces has.
    pub cut_off: usize,
}

/// Finds the cut vertices and bridges of the graph of these systems and the gates between them. Systems named twice
/// count once. If the area consists of several unconnected parts, each is judged separately. The pieces are counted by
/// a walk for each cut, so a large area takes the square of its size.
pub fn cuts(map: &Map, area: &[SystemIndex]) -> Cuts {
    let mut graph = UnGraph::<SystemIndex, ()>::new_undirected();
    let mut nodes: BTreeMap<SystemIndex, NodeIndex> = BTreeMap::new();
    // What is only an end joins nothing.
    for &system in area.iter().filter(|it| !map.only_ends().contains(it)) {
        nodes.entry(system).or_insert_with(|| graph.add_node(system));
    }
    let ends = nodes.iter().flat_map(|(from, node)| {
        let later = map.neighbours(*from).iter().filter(move |to| *to > from);
        later.filter_map(|to| Some((*node, *nodes.get(to)?)))
    });
    let ends: Vec<(NodeIndex, NodeIndex)> = ends.collect();
    for (from, to) in ends {
        graph.add_edge(from, to, ());
    }
    let system = |node: NodeIndex| graph.node_weight(node).copied();
    // The pieces on the other sides of a node, without a way through it or through one gate.
    let pieces = |cut: NodeIndex, gate: Option<NodeIndex>| -> Vec<usize> {
        let mut seen = vec![false; graph.node_count()];
        let mut mark = |node: NodeIndex| {
            seen.get_mut(node.index()).is_some_and(|seen| !std::mem::replace(seen, true))
        };
        mark(cut);
        let starts: Vec<NodeIndex> =
            gate.map_or_else(|| graph.neighbors(cut).collect(), |it| vec![it]);
        let sizes = starts.into_iter().map(|start| {
            let mut open = Vec::from_iter(mark(start).then_some(start));
            let mut size = 0;
            while let Some(node) = open.pop() {
                size += 1;
                open.extend(graph.neighbors(node).filter(|it| mark(*it)));
            }
            size
        });
        sizes.filter(|size| *size > 0).collect()
    };
    let systems = articulation_points(&graph).into_iter().filter_map(|node| {
        let pieces = pieces(node, None);
        let largest = pieces.iter().max().copied().unwrap_or_default();
        Some(CutSystem { system: system(node)?, cut_off: pieces.iter().sum::<usize>() - largest })
    });
    let parts = tarjan_scc(&graph);
    let part_of = |node: &NodeIndex| parts.iter().find(|part| part.contains(node)).map(Vec::len);
    let joins = bridges(&graph).filter_map(|edge| {
        use petgraph::visit::EdgeRef as _;
        let (a, b) = (edge.source(), edge.target());
        let beyond: usize = pieces(a, Some(b)).iter().sum();
        let cut_off = beyond.min(part_of(&a)? - beyond);
        let (a, b) = (system(a)?, system(b)?);
        Some(Bridge { from: a.min(b), to: a.max(b), cut_off })
    });
    let mut cuts = Cuts { systems: systems.collect(), bridges: joins.collect() };
    cuts.systems.sort_unstable();
    cuts.bridges.sort_unstable();
    cuts
}
