//! The objects inside bodies, groups and nebulae: their members.

use super::tables::row;
use crate::member::Kind::{Choice, Flag, Number, Object, Seed, Text};
use crate::member::Mode::Part;
use crate::member::Need::{Optional, Required};
use crate::member::Table;

// Tables are read by column.
#[rustfmt::skip]
pub(crate) static POSITION: Table = Table { name: "position", members: &[
    row("x", Number, Required, "world units"),
    row("y", Number, Required, "world units"),
    row("z", Number, Required, "world units"),
] };

#[rustfmt::skip]
pub(crate) static GROUP_CHILD: Table = Table { name: "group child", members: &[
    row("id", Text, Required, "id of the body or group"),
    row("type", Choice(&["system", "group"]), Required, "system (a body) or group"),
] };

#[rustfmt::skip]
pub(crate) static RING: Table = Table { name: "ring", members: &[
    row("innerRadiusMultiplier", Number, Required, "inner radius, multiples of the body's radius"),
    row("outerRadiusMultiplier", Number, Required, "outer radius, multiples of the body's radius"),
    row("thickness", Number, Required, "half-height, world units"),
    row("opacity", Number, Required, "0 to 1"),
    row("albedo", Number, Required, "reflectivity, 0 to 1"),
    row("color", Text, Required, "CSS colour"),
    row("density", Number, Required, "0 to 1"),
    row("warpFactor", Number, Optional, "how far the plane is bent"),
    row("seed", Seed, Optional, "seed of its texture"),
] };

#[rustfmt::skip]
pub(crate) static COMET: Table = Table { name: "comet", members: &[
    row("isPeriodic", Flag, Required, "whether it comes back"),
    row("perihelionDistance", Number, Required, "world units"),
    row("aphelionDistance", Number, Required, "world units"),
    row("hasTail", Flag, Required, "whether a tail is drawn"),
    row("tailLengthBase", Number, Required, "length at full activity, world units"),
    row("tailWidthBase", Number, Required, "width at full activity, world units"),
    row("tailColor", Text, Required, "CSS colour"),
    row("tailOpacityBase", Number, Required, "0 to 1"),
    row("activityFalloffDistance", Number, Required, "where activity fades, world units"),
    row("lastPerihelionTime", Number, Optional, "simulated seconds"),
    row("seed", Seed, Optional, "seed of its look"),
] };

#[rustfmt::skip]
pub(crate) static LAGRANGE_POINT: Table = Table { name: "Lagrange point", members: &[
    row("primaryId", Text, Required, "id of the heavier body"),
    row("secondaryId", Text, Required, "id of the lighter body"),
    row("pointIndex", Number, Required, "1 to 5"),
    row("stable", Flag, Required, "true for points 4 and 5"),
    row("pairType", Choice(&["starPlanet", "planetMoon"]), Required, "kind of pair"),
    row("label", Text, Optional, "display label"),
] };

#[rustfmt::skip]
pub(crate) static BLACK_HOLE: Table = Table { name: "black hole", members: &[
    row("hasAccretionDisk", Flag, Required, "whether a disk is drawn"),
    row("hasRelativisticJet", Flag, Required, "whether jets are drawn"),
    row("hasPhotonRing", Flag, Required, "whether a photon ring is drawn"),
    row("spin", Number, Required, "0 to 1"),
    row("shadowRadius", Number, Required, "world units"),
    row("accretionInnerRadius", Number, Required, "world units"),
    row("accretionOuterRadius", Number, Required, "world units"),
    row("diskThickness", Number, Required, "world units"),
    row("diskBrightness", Number, Required, "0 to 1"),
    row("diskOpacity", Number, Required, "0 to 1"),
    row("diskTemperature", Number, Required, "kelvin, roughly"),
    row("diskClumpiness", Number, Required, "0 to 1"),
    row("jetLength", Number, Required, "world units"),
    row("jetOpeningAngle", Number, Required, "degrees"),
    row("jetBrightness", Number, Required, "0 to 1"),
    row("dopplerBeamingStrength", Number, Required, "0 to 1"),
    row("lensingStrength", Number, Required, "0 to 1"),
    row("rotationSpeedMultiplier", Number, Required, "speed of the disk"),
    row("seed", Seed, Required, "seed of its look"),
    row("diskTurbulenceScale", Number, Optional, "0 to 1"),
    row("diskInnerColor", Text, Optional, "CSS colour"),
    row("diskOuterColor", Text, Optional, "CSS colour"),
    row("diskStreakiness", Number, Optional, "0 to 1"),
    row("jetBaseColor", Text, Optional, "CSS colour"),
    row("jetTipColor", Text, Optional, "CSS colour"),
    row("jetGradientPower", Number, Optional, "exponent; 2 if absent"),
    row("photonRingMultiImageCount", Number, Optional, "1 to 3; 2 if absent"),
    row("photonRingWidth", Number, Optional, "0.4 if absent"),
    row("diskTilt", Number, Optional, "radians; 0 if absent"),
    row("diskTiltAxisAngle", Number, Optional, "radians; 0 if absent"),
] };

#[rustfmt::skip]
pub(crate) static ROGUE_PLANET: Table = Table { name: "rogue planet", members: &[
    row("seed", Seed, Required, "seed of its look"),
    row("initialPosition", Object(&POSITION, Part), Required, "position at time 0, world units"),
    row("velocity", Object(&POSITION, Part), Required, "world units per simulated second"),
    row("colorOverride", Text, Optional, "CSS colour"),
    row("pathCurvature", Number, Optional, "0 (straight) to 1"),
    row("semiMajorAxis", Number, Optional, "of a curved path, world units"),
    row("eccentricity", Number, Optional, "of a curved path, 0 to 0.99"),
    row("pathOffsetX", Number, Optional, "world units"),
    row("pathOffsetY", Number, Optional, "world units"),
    row("pathOffsetZ", Number, Optional, "world units"),
    row("orbitRotX", Number, Optional, "degrees"),
    row("orbitRotY", Number, Optional, "degrees"),
    row("orbitRotZ", Number, Optional, "degrees"),
    row("pathPeriod", Number, Optional, "seconds of one turn of a curved path"),
    row("showTrajectory", Flag, Optional, "whether the path is drawn"),
    row("trajectoryPastWindow", Number, Optional, "seconds drawn behind it"),
    row("trajectoryFutureWindow", Number, Optional, "seconds drawn ahead of it"),
] };
