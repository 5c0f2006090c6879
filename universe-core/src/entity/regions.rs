//! Belts, particle fields, disks and nebulae: their members.

use super::parts::POSITION;
use crate::member::Kind::{Choice, Color, Flag, Ids, Number, Object, Pair, Seed, Text};
use crate::member::Mode::Part;
use crate::member::Need::{Fixed, Optional, Required};
use crate::member::{Table, row};

// Tables are read by column.
#[rustfmt::skip]
pub(crate) static FIELD: Table = Table { name: "small body field", members: &[
    row("id", Text, Fixed, "id of the field, equal to its key"),
    row("systemId", Text, Required, "system it belongs to"),
    row("hostStarId", Text, Required, "body it surrounds"),
    row("innerRadius", Number, Required, "length units").not_negative(),
    row("outerRadius", Number, Required, "length units").not_negative(),
    row("thickness", Number, Required, "length units").not_negative(),
    row("particleCount", Number, Required, "number of particles").not_negative(),
    row("baseColor", Color, Required, "CSS colour"),
    row("highlightColor", Color, Required, "CSS colour"),
    row("opacity", Number, Required, "0 to 1").within(0.0, 1.0),
    row("brightness", Number, Required, "brightness factor"),
    row("clumpiness", Number, Required, "0 to 1").within(0.0, 1.0),
    row("rotationSpeedMultiplier", Number, Required, "speed factor"),
    row("beltType", Choice(&["main", "kuiper"]), Required, "kind of belt"),
    row("regionLabel", Text, Required, "display label"),
    row("isIcy", Flag, Required, "whether it is drawn icy"),
    row("seed", Seed, Required, "seed of its particles"),
    row("style", Choice(&["thin", "moderate", "thick", "scattered"]), Required, "look"),
    row("inclinationSigma", Number, Optional, "spread of the inclinations").not_negative(),
    row("name", Text, Optional, "display name"),
    row("visible", Flag, Optional, "whether it is drawn"),
] };

#[rustfmt::skip]
pub(crate) static DISK: Table = Table { name: "protoplanetary disk", members: &[
    row("id", Text, Fixed, "id of the disk, equal to its key"),
    row("systemId", Text, Required, "system it belongs to"),
    row("centralStarId", Text, Required, "body it surrounds"),
    row("innerRadius", Number, Required, "length units").not_negative(),
    row("outerRadius", Number, Required, "length units").not_negative(),
    row("thickness", Number, Required, "length units").not_negative(),
    row("particleCount", Number, Required, "number of particles").not_negative(),
    row("baseColor", Color, Required, "CSS colour"),
    row("highlightColor", Color, Required, "CSS colour"),
    row("opacity", Number, Required, "0 to 1").within(0.0, 1.0),
    row("brightness", Number, Required, "brightness factor"),
    row("clumpiness", Number, Required, "0 to 1").within(0.0, 1.0),
    row("rotationSpeedMultiplier", Number, Required, "speed factor"),
    row("seed", Seed, Required, "seed of its particles"),
    row("style", Choice(&["thin", "moderate", "thick", "extreme"]), Required, "look"),
    row("name", Text, Optional, "display name"),
    row("bandStrength", Number, Optional, "0 to 1").within(0.0, 1.0),
    row("bandFrequency", Number, Optional, "2 to 12").within(2.0, 12.0),
    row("gapSharpness", Number, Optional, "0 to 1").within(0.0, 1.0),
    row("innerGlowStrength", Number, Optional, "0 to 1").within(0.0, 1.0),
    row("noiseScale", Number, Optional, "0.5 to 3").within(0.5, 3.0),
    row("noiseStrength", Number, Optional, "0 to 1").within(0.0, 1.0),
    row("spiralStrength", Number, Optional, "0 to 1").within(0.0, 1.0),
    row("spiralArmCount", Number, Optional, "1 to 4").within(1.0, 4.0),
    row("edgeSoftness", Number, Optional, "0 to 1").within(0.0, 1.0),
    row("temperatureGradient", Number, Optional, "0.5 to 3").within(0.5, 3.0),
] };

#[rustfmt::skip]
pub(crate) static NEBULA: Table = Table { name: "nebula", members: &[
    row("id", Text, Fixed, "id of the nebula, equal to its key"),
    row("name", Text, Required, "display name"),
    row("position", Object(&POSITION, Part), Required, "centre, length units"),
    row("radius", Number, Required, "length units").not_negative(),
    row("density", Number, Required, "0 to 1").within(0.0, 1.0),
    row("brightness", Number, Required, "0 to 1").within(0.0, 1.0),
    row("baseColor", Color, Required, "CSS colour"),
    row("accentColor", Color, Required, "CSS colour"),
    row("noiseScale", Number, Required, "scale of the noise"),
    row("noiseDetail", Number, Required, "detail of the noise"),
    row("seed", Seed, Required, "seed of its look"),
    row("dimensions", Object(&POSITION, Part), Optional, "half-extents, length units"),
    row("associatedGroupIds", Ids, Optional, "groups it belongs to"),
    row("visible", Flag, Optional, "whether it is drawn"),
] };

#[rustfmt::skip]
pub(crate) static BELT: Table = Table { name: "asteroid belt", members: &[
    row("id", Text, Fixed, "id of the belt, equal to its key"),
    row("name", Text, Required, "display name"),
    row("parentId", Text, Required, "body it surrounds"),
    row("innerRadius", Number, Required, "length units").not_negative(),
    row("outerRadius", Number, Required, "length units").not_negative(),
    row("thickness", Number, Required, "length units").not_negative(),
    row("eccentricity", Number, Required, "0 to below 1").below(0.0, 1.0),
    row("inclination", Number, Required, "degrees"),
    row("asteroidCount", Number, Required, "number of asteroids").not_negative(),
    row("asteroidIds", Ids, Required, "ids of its asteroids"),
    row("color", Color, Optional, "CSS colour"),
    row("beltType", Choice(&["main", "kuiper"]), Optional, "kind of belt"),
    row("regionLabel", Text, Optional, "display label"),
    row("isIcy", Flag, Optional, "whether it is drawn icy"),
    row("inclinationSigma", Number, Optional, "spread of the inclinations").not_negative(),
    row("radialRangeHint", Pair, Optional, "inner and outer radius, length units"),
    row("lodLevel", Number, Optional, "level of detail"),
    row("visible", Flag, Optional, "whether it is drawn"),
    row("seed", Seed, Optional, "seed of its asteroids"),
] };
