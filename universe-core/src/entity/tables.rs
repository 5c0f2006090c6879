//! The bodies and the groups: their members, and those of a whole universe.

use super::elements::{ELEMENTS, UNITS};
use super::parts::{BLACK_HOLE, COMET, GROUP_CHILD, LAGRANGE_POINT, POSITION, RING, ROGUE_PLANET};
use super::regions::{BELT, DISK, FIELD, NEBULA};
use crate::member::Kind::{
    Choice, Color, Date, Flag, IdOrNull, Ids, List, Map, Number, Object, Text,
};
use crate::member::Mode::{Part, Whole};
use crate::member::Need::{Defaulted, Fixed, Managed, Optional, OrElements, Required};
use crate::member::{Table, row};

const BODY_TYPES: &[&str] =
    &["star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole"];

// Tables are read by column.
#[rustfmt::skip]
pub(crate) static STAR: Table = Table { name: "body", members: &[
    row("id", Text, Managed, "id of the body, equal to its key"),
    row("name", Text, Required, "display name"),
    row("mass", Number, Required, "mass, mass units (Earth = 1 by custom)").not_negative(),
    row("radius", Number, Required, "radius, radius units").not_negative(),
    row("color", Color, Required, "CSS colour, e.g. #FFAA00"),
    row("children", Ids, Managed, "ids of the bodies in orbit around it, in order"),
    row("parentId", IdOrNull, Fixed, "id of the body it orbits, or null for a root body"),
    row("orbitalDistance", Number, OrElements, "radius of a circular orbit, length units").not_negative(),
    row("orbitalSpeed", Number, OrElements, "degrees per simulated second"),
    row("orbitalPhase", Number, Defaulted, "angle at time 0, degrees; 0 if absent"),
    row("bodyType", Choice(BODY_TYPES), Optional, "kind of body"),
    row("ring", Object(&RING, Part), Optional, "planetary ring"),
    row("parentBeltId", Text, Optional, "belt an asteroid belongs to"),
    row("asteroidSubType", Choice(&["mainBelt", "kuiperBelt", "generic"]), Optional, "kind of asteroid"),
    row("comet", Object(&COMET, Part), Optional, "comet data"),
    row("lagrangePoint", Object(&LAGRANGE_POINT, Part), Optional, "Lagrange point data"),
    row("lagrangeHostId", Text, Optional, "for a Trojan: id of the Lagrange point"),
    row("blackHole", Object(&BLACK_HOLE, Part), Optional, "black hole data"),
    row("isRoguePlanet", Flag, Optional, "whether it moves on a path of its own"),
    row("roguePlanet", Object(&ROGUE_PLANET, Part), Optional, "path of a rogue planet"),
    row("semiMajorAxis", Number, Optional, "length units; orbitalDistance if absent").not_negative(),
    row("eccentricity", Number, Optional, "0 to below 1; 0 if absent").below(0.0, 1.0),
    row("orbitOffsetX", Number, Optional, "shift of the ellipse along x, length units"),
    row("orbitOffsetY", Number, Optional, "the same along y"),
    row("orbitOffsetZ", Number, Optional, "the same along z"),
    row("orbitRotX", Number, Optional, "rotation of the orbit, degrees; applied last"),
    row("orbitRotY", Number, Optional, "degrees; applied second"),
    row("orbitRotZ", Number, Optional, "degrees; applied first"),
    row("elements", Object(&ELEMENTS, Whole), Optional, "Keplerian orbit"),
    row("axialTilt", Number, Optional, "of its equator, degrees").within(0.0, 180.0),
    row("axialNode", Number, Optional, "of the equator's node, degrees"),
    row("rotationPeriod", Number, Optional, "of a turn about its axis, seconds").not_negative(),
] };

#[rustfmt::skip]
pub(crate) static GROUP: Table = Table { name: "group", members: &[
    row("id", Text, Managed, "id of the group, equal to its key"),
    row("name", Text, Required, "display name"),
    row("children", List(&GROUP_CHILD), Fixed, "members, in order; [] for none"),
    row("parentGroupId", IdOrNull, Fixed, "id of the group it is in, or null for a root group"),
    row("color", Color, Optional, "CSS colour"),
    row("icon", Text, Optional, "emoji or text"),
    row("position", Object(&POSITION, Part), Optional, "place of the group, length units"),
] };

/// A universe. Imported, any part of it will do; a new snapshot needs its bodies, and has no time.
#[rustfmt::skip]
pub(crate) static UNIVERSE: Table = Table { name: "universe", members: &[
    row("stars", Map(&STAR), Required, "every body"),
    row("rootIds", Ids, Required, "ids of the bodies without a parent, in order"),
    row("groups", Map(&GROUP), Optional, "every group"),
    row("rootGroupIds", Ids, Optional, "ids of the groups without a parent, in order"),
    row("belts", Map(&BELT), Optional, "asteroid belts"),
    row("smallBodyFields", Map(&FIELD), Optional, "particle belts"),
    row("protoplanetaryDisks", Map(&DISK), Optional, "protoplanetary disks"),
    row("nebulae", Map(&NEBULA), Optional, "nebulae"),
    row("time", Number, Managed, "simulated time, seconds"),
    row("epoch", Date, Optional, "date at time 0"),
    row("units", Object(&UNITS, Part), Optional, "units of length, mass and radius"),
] };
