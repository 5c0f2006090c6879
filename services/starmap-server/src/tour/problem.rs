//! The order of stops as a numeric problem.

/// The cost of going from stop to stop. Stops are numbered from 0. One-way connections make the cost differ by
/// direction.
#[derive(Debug)]
pub(super) struct Problem {
    /// How many stops there are.
    count: usize,
    /// From each stop to each, row by row. The last row and column are the start and the end of the tour. They are 0 if
    /// it may begin or end anywhere.
    costs: Vec<u32>,
    /// The transposed matrix: to each stop from each.
    turned: Vec<u32>,
}

impl Problem {
    /// The problem for the stops at these indices of a matrix of jumps. The first of them is home. The flags say
    /// whether the tour begins there, and whether it ends there.
    pub(super) fn new(
        jumps: &[Vec<Option<u32>>],
        stops: &[usize],
        begins: bool,
        ends: bool,
    ) -> Self {
        let cost = |from: &usize, to: &usize| -> u32 {
            let cell = jumps.get(*from).and_then(|row| row.get(*to));
            cell.copied().flatten().unwrap_or_default()
        };
        let mut costs = Vec::with_capacity((stops.len() + 1).pow(2));
        for from in stops {
            costs.extend(stops.iter().map(|to| cost(from, to)));
            costs.push(if ends { cost(from, &0) } else { 0 });
        }
        costs.extend(stops.iter().map(|to| if begins { cost(&0, to) } else { 0 }));
        costs.push(0);
        let width = stops.len() + 1;
        let column = |to| costs.iter().skip(to).step_by(width).copied();
        Self { count: stops.len(), turned: (0..width).flat_map(column).collect(), costs }
    }

    /// How many stops there are.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// From one stop to another; `None` means the start or the end of the tour.
    pub(super) fn cost(&self, from: Option<usize>, to: Option<usize>) -> u32 {
        self.step(from.unwrap_or(self.count), to.unwrap_or(self.count))
    }

    /// The same, with the number of stops for the start and the end.
    pub(super) fn step(&self, from: usize, to: usize) -> u32 {
        let place = from * (self.count + 1) + to;
        self.costs.get(place).copied().unwrap_or_default()
    }

    /// From one stop to each stop, and last to the end of the tour.
    pub(super) fn leaving(&self, from: usize) -> &[u32] {
        let width = self.count + 1;
        let row = from * width..(from + 1) * width;
        self.costs.get(row).unwrap_or_default()
    }

    /// To one stop from each stop, and last from the start of the tour.
    pub(super) fn arriving(&self, to: usize) -> &[u32] {
        let width = self.count + 1;
        let row = to * width..(to + 1) * width;
        self.turned.get(row).unwrap_or_default()
    }

    /// The length of the whole tour in this order.
    pub(super) fn length(&self, order: &[usize]) -> u32 {
        let stops = || order.iter().copied().map(Some);
        let from = std::iter::once(None).chain(stops());
        let to = stops().chain(std::iter::once(None));
        from.zip(to).map(|(from, to)| self.cost(from, to)).sum()
    }

    /// The jumps from each stop to the next. With a home they include the jumps from home to the first stop, and those
    /// from the last stop to home if the tour is closed.
    pub(super) fn legs(&self, order: &[usize], home: bool, closed: bool) -> Vec<usize> {
        let stops = order.iter().copied().map(Some);
        let start = home.then_some(None);
        let end = closed.then_some(None);
        let all: Vec<Option<usize>> = start.into_iter().chain(stops).chain(end).collect();
        let legs = all.iter().zip(all.iter().skip(1));
        legs.map(|(from, to)| self.cost(*from, *to) as usize).collect()
    }

    /// A tour that always continues to the nearest remaining stop. Among equals it takes the first.
    pub(super) fn nearest_neighbour(&self) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.len()).collect();
        let mut order: Vec<usize> = Vec::with_capacity(left.len());
        let nearest = |here: Option<usize>, left: &[usize]| {
            (0..left.len()).min_by_key(|at| self.cost(here, left.get(*at).copied()))
        };
        while let Some(at) = nearest(order.last().copied(), &left) {
            order.push(left.remove(at));
        }
        order
    }
}
