//! The objects inside bodies, groups and nebulae: their members.

use crate::member::Kind::{Choice, Color, Flag, Number, Object, Seed, Text};
use crate::member::Mode::Part;
use crate::member::Need::{Optional, Required};
use crate::member::{Table, row};

// Tables are read by column.
#[rustfmt::skip]
pub(crate) static POSITION: Table = Table { name: "position", members: &[
    row("x", Number, Required, "length units"),
    row("y", Number, Required, "length units"),
    row("z", Number, Required, "length units"),
] };

#[rustfmt::skip]
pub(crate) static GROUP_CHILD: Table = Table { name: "group child", members: &[
    row("id", Text, Required, "id of the body or group"),
    row("type", Choice(&["system", "group"]), Required, "system (a body) or group"),
] };

#[rustfmt::skip]
pub(crate) static RING: Table = Table { name: "ring", members: &[
    row("innerRadiusMultiplier", Number, Required, "inner radius, multiples of the body's radius").not_negative(),
    row("outerRadiusMultiplier", Number, Required, "outer radius, multiples of the body's radius").not_negative(),
    row("thickness", Number, Required, "half-height, length units").not_negative(),
    row("opacity", Number, Required, "0 to 1").within(0.0, 1.0),
    row("albedo", Number, Required, "reflectivity, 0 to 1").within(0.0, 1.0),
    row("color", Color, Required, "CSS colour"),
    row("density", Number, Required, "0 to 1").within(0.0, 1.0),
    row("warpFactor", Number, Optional, "how far the plane is bent"),
    row("seed", Seed, Optional, "seed of its texture"),
] };

#[rustfmt::skip]
pub(crate) static COMET: Table = Table { name: "comet", members: &[
    row("isPeriodic", Flag, Required, "whether it comes back"),
    row("perihelionDistance", Number, Required, "length units").not_negative(),
    row("aphelionDistance", Number, Required, "length units").not_negative(),
    row("hasTail", Flag, Required, "whether a tail is drawn"),
    row("tailLengthBase", Number, Required, "length at full activity, length units").not_negative(),
    row("tailWidthBase", Number, Required, "width at full activity, length units").not_negative(),
    row("tailColor", Color, Required, "CSS colour"),
    row("tailOpacityBase", Number, Required, "0 to 1").within(0.0, 1.0),
    row("activityFalloffDistance", Number, Required, "where activity fades, length units").not_negative(),
    row("lastPerihelionTime", Number, Optional, "simulated seconds"),
    row("seed", Seed, Optional, "seed of its look"),
] };

#[rustfmt::skip]
pub(crate) static LAGRANGE_POINT: Table = Table { name: "Lagrange point", members: &[
    row("primaryId", Text, Required, "id of the heavier body"),
    row("secondaryId", Text, Required, "id of the lighter body"),
    row("pointIndex", Number, Required, "1 to 5").within(1.0, 5.0),
    row("stable", Flag, Required, "true for points 4 and 5"),
    row("pairType", Choice(&["starPlanet", "planetMoon"]), Required, "kind of pair"),
    row("label", Text, Optional, "display label"),
] };

#[rustfmt::skip]
pub(crate) static BLACK_HOLE: Table = Table { name: "black hole", members: &[
    row("hasAccretionDisk", Flag, Required, "whether a disk is drawn"),
    row("hasRelativisticJet", Flag, Required, "whether jets are drawn"),
    row("hasPhotonRing", Flag, Required, "whether a photon ring is drawn"),
    row("spin", Number, Required, "0 to 1").within(0.0, 1.0),
    row("shadowRadius", Number, Required, "length units").not_negative(),
    row("accretionInnerRadius", Number, Required, "length units").not_negative(),
    row("accretionOuterRadius", Number, Required, "length units").not_negative(),
    row("diskThickness", Number, Required, "length units").not_negative(),
    row("diskBrightness", Number, Required, "0 to 1").within(0.0, 1.0),
    row("diskOpacity", Number, Required, "0 to 1").within(0.0, 1.0),
    row("diskTemperature", Number, Required, "kelvin, roughly").not_negative(),
    row("diskClumpiness", Number, Required, "0 to 1").within(0.0, 1.0),
    row("jetLength", Number, Required, "length units").not_negative(),
    row("jetOpeningAngle", Number, Required, "degrees"),
    row("jetBrightness", Number, Required, "0 to 1").within(0.0, 1.0),
    row("dopplerBeamingStrength", Number, Required, "0 to 1").within(0.0, 1.0),
    row("lensingStrength", Number, Required, "0 to 1").within(0.0, 1.0),
    row("rotationSpeedMultiplier", Number, Required, "speed of the disk"),
    row("seed", Seed, Required, "seed of its look"),
    row("diskTurbulenceScale", Number, Optional, "0 to 1").within(0.0, 1.0),
    row("diskInnerColor", Color, Optional, "CSS colour"),
    row("diskOuterColor", Color, Optional, "CSS colour"),
    row("diskStreakiness", Number, Optional, "0 to 1").within(0.0, 1.0),
    row("jetBaseColor", Color, Optional, "CSS colour"),
    row("jetTipColor", Color, Optional, "CSS colour"),
    row("jetGradientPower", Number, Optional, "exponent; 2 if absent"),
    row("photonRingMultiImageCount", Number, Optional, "1 to 3; 2 if absent").within(1.0, 3.0),
    row("photonRingWidth", Number, Optional, "0.4 if absent").not_negative(),
    row("diskTilt", Number, Optional, "radians; 0 if absent"),
    row("diskTiltAxisAngle", Number, Optional, "radians; 0 if absent"),
] };

#[rustfmt::skip]
pub(crate) static ROGUE_PLANET: Table = Table { name: "rogue planet", members: &[
    row("seed", Seed, Required, "seed of its look"),
    row("initialPosition", Object(&POSITION, Part), Required, "position at time 0, length units"),
    row("velocity", Object(&POSITION, Part), Required, "length units per simulated second"),
    row("colorOverride", Color, Optional, "CSS colour"),
    row("pathCurvature", Number, Optional, "0 (straight) to 1").within(0.0, 1.0),
    row("semiMajorAxis", Number, Optional, "of a curved path, length units").not_negative(),
    row("eccentricity", Number, Optional, "of a curved path, 0 to 0.99").within(0.0, 0.99),
    row("pathOffsetX", Number, Optional, "length units"),
    row("pathOffsetY", Number, Optional, "length units"),
    row("pathOffsetZ", Number, Optional, "length units"),
    row("orbitRotX", Number, Optional, "degrees"),
    row("orbitRotY", Number, Optional, "degrees"),
    row("orbitRotZ", Number, Optional, "degrees"),
    row("pathPeriod", Number, Optional, "seconds of one turn of a curved path").not_negative(),
    row("showTrajectory", Flag, Optional, "whether the path is drawn"),
    row("trajectoryPastWindow", Number, Optional, "seconds drawn behind it"),
    row("trajectoryFutureWindow", Number, Optional, "seconds drawn ahead of it"),
] };
