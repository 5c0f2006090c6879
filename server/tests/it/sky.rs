//! The demo universe is where an ephemeris has the sky, and answers where and when.
//!
//! `sky.csv` is written by `xtask/ephemeris/sky.py`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use universe_server::demo;

use crate::harness::{Client, Era, Local, Mcp};

/// The largest errors in degrees: Keplerian orbits have no evection and no resonances.
const PLANETS: f64 = 0.5;
const MOONS: f64 = 3.0;

async fn sol(client: Client) -> String {
    client.create("Sol", demo::sol().unwrap()).await
}

async fn places(client: Client, id: &str, query: &str) -> Value {
    let reply = client.get(&format!("/universes/{id}/places?{query}")).await;
    assert_eq!(reply.status, 200, "{query}: {reply:?}");
    reply.json()
}

async fn refused(client: Client, id: &str, query: &str) -> (u16, String) {
    let reply = client.get(&format!("/universes/{id}/places?{query}")).await;
    (reply.status, reply.json()["error"].as_str().unwrap().to_owned())
}

/// The angle between two directions of longitude and latitude.
fn apart(one: (f64, f64), other: (f64, f64)) -> f64 {
    let direction = |(longitude, latitude): (f64, f64)| {
        let ((s, c), (z, flat)) =
            (longitude.to_radians().sin_cos(), latitude.to_radians().sin_cos());
        [flat * c, flat * s, z]
    };
    let along: f64 = direction(one).iter().zip(direction(other)).map(|(a, b)| a * b).sum();
    along.min(1.0).acos().to_degrees()
}

fn direction(place: &Value) -> (f64, f64) {
    (place["longitude"].as_f64().unwrap(), place["latitude"].as_f64().unwrap())
}

#[tokio::test]
async fn bodies_are_where_the_ephemeris_has_them_from_1950_to_2050() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    let mcp = Mcp::new(server.client, Era::Modern).await;
    let mut lines = include_str!("../sky.csv").lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').skip(1).step_by(2).collect();
    let (planets, moons) = names.split_at(9);
    let mut worst: BTreeMap<String, f64> = BTreeMap::new();
    let mut count = 0;
    for line in lines {
        let (date, numbers) = line.split_once(',').unwrap();
        let numbers: Vec<f64> = numbers.split(',').map(|number| number.parse().unwrap()).collect();
        let truth: BTreeMap<&str, (f64, f64)> =
            names.iter().copied().zip(numbers.chunks(2).map(|it| (it[0], it[1]))).collect();
        for (from, bodies) in [("sun", planets), ("earth", &moons[..1]), ("jupiter", &moons[1..])] {
            let found = if count % 20 == 0 {
                let asked = json!({ "at": date, "bodies": bodies, "from": from });
                let arguments = json!({ "universeId": id, "select": { "places": asked } });
                mcp.content("get_universe_state", arguments).await
            } else {
                let bodies = bodies.join(",");
                places(server.client, &id, &format!("at={date}&from={from}&bodies={bodies}")).await
            };
            for place in found["places"].as_array().unwrap() {
                let name = place["id"].as_str().unwrap();
                let error = apart(direction(place), truth[name]);
                let worst = worst.entry(name.to_owned()).or_default();
                *worst = worst.max(error);
            }
        }
        count += 1;
    }
    assert_eq!((count, worst.len()), (200, 14));
    for (name, error) in &worst {
        let most = if planets.contains(&name.as_str()) { PLANETS } else { MOONS };
        assert!(error <= &most, "{name} is {error} degrees off; all: {worst:?}");
    }
    // What the documents say of it, rounded up.
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/reference/orbits.md");
    let page = std::fs::read_to_string(page).unwrap().to_lowercase();
    for (name, error) in &worst {
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} |")));
        let shown = row
            .and_then(|row| row.split('|').nth(3))
            .unwrap_or_else(|| panic!("{name} is not shown"));
        let shown: f64 = shown.trim().parse().unwrap();
        assert!((0.0..0.011).contains(&(shown - error)), "{name}: {shown} shown; all: {worst:?}");
    }
}

/// gordonhart/atlasof.space#18, hannorein/rebound#443: a comet hurries past the Sun, and a retrograde one too.
#[tokio::test]
async fn halleys_comet_is_as_far_as_it_was() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    let distance = async |at: &str| {
        let found = places(server.client, &id, &format!("at={at}&from=sun&bodies=halley")).await;
        found["places"][0]["distance"].as_f64().unwrap()
    };
    for (at, expected) in
        [("1990-01-01", 12.2), ("2000-01-01", 25.4), ("1986-02-09T11:02:00Z", 0.586)]
    {
        let found = distance(at).await;
        assert!((found - expected).abs() < 0.2, "{at}: {found} au");
    }
    let nearest = distance("1986-02-09T11:02:00Z").await;
    assert!(nearest < distance("1986-02-08").await && nearest < distance("1986-02-11").await);
}

/// As the Swiss Ephemeris has it, and, at the end, as Piazzi saw it when he found it.
#[tokio::test]
async fn ceres_is_where_it_was_found() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    for (from, at, truth, most) in [
        ("sun", "1950-01-01", (220.095, 7.036), 0.7),
        ("sun", "1975-01-01", (1.551, -10.409), 0.7),
        ("sun", "2000-01-01", (161.386, 10.453), 0.7),
        ("sun", "2025-01-01", (317.766, -8.960), 0.7),
        ("sun", "2049-12-01", (96.452, 3.054), 0.7),
        ("earth", "1801-01-01T19:50:00Z", (56.164, -3.088), 3.0),
    ] {
        let found = places(server.client, &id, &format!("at={at}&from={from}&bodies=ceres")).await;
        let error = apart(direction(&found["places"][0]), truth);
        assert!(error < most, "{at}: {error} degrees off");
    }
}

/// By the meridians of the IAU (2015), which these moons turn to their planets.
#[tokio::test]
async fn synchronous_moons_are_where_their_meridians_say() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    let dates = ["1950-03-15", "2000-01-01", "2049-06-01"];
    for (moon, planet, truths) in [
        ("amalthea", "jupiter", [(65.03, 1.93), (48.56, 2.40), (23.71, 1.28)]),
        ("proteus", "neptune", [(252.24, -12.79), (137.43, 28.92), (109.55, 25.85)]),
        ("triton", "neptune", [(182.99, 19.50), (181.37, 33.75), (86.18, 37.04)]),
        ("charon", "pluto", [(212.85, 30.76), (271.71, -58.97), (30.04, -35.28)]),
    ] {
        for (at, truth) in dates.into_iter().zip(truths) {
            let asked = format!("at={at}&from={planet}&bodies={moon}");
            let found = places(server.client, &id, &asked).await;
            let error = apart(direction(&found["places"][0]), truth);
            assert!(error < MOONS, "{moon}, {at}: {error} degrees off");
        }
    }
}

#[tokio::test]
async fn the_sun_is_eclipsed_on_the_day_it_will_be() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    let query = "at=2026-08-12T17:45:00Z&from=earth&bodies=sun,moon&separations=sun,moon";
    let found = places(server.client, &id, query).await;
    let [sun, moon] = [0, 1].map(|at| direction(&found["places"][at]));
    assert!(apart(sun, moon) < 3.0);
    let degrees = found["separations"][0]["degrees"].as_f64().unwrap();
    assert!((degrees - apart(sun, moon)).abs() < 0.01, "{found}");
    assert_eq!(found["separations"][0]["between"], json!(["sun", "moon"]));
}

/// hannorein/rebound#626, Stellarium/stellarium#107: the moons of Uranus lie in its equator.
#[tokio::test]
async fn the_moons_of_uranus_go_over_its_poles() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    let mut steepest: f64 = 0.0;
    for day in 0..9 {
        let found =
            places(server.client, &id, &format!("at={}&from=uranus&bodies=titania", day * 86_400))
                .await;
        steepest = steepest.max(direction(&found["places"][0]).1.abs());
    }
    assert!(steepest > 70.0, "{steepest}");
}

/// Rich2/openstrat#274: seen from north, bodies go counter-clockwise.
#[tokio::test]
async fn the_picture_turns_counter_clockwise() {
    let server = Local::start().await;
    let body = |id: &str, color: &str, parent: Value, children: Value| json!({ "id": id, "name": id, "mass": 1, "radius": 1, "color": color, "parentId": parent, "children": children });
    let mut sun = body("sun", "#FF0000", Value::Null, json!(["old", "new"]));
    let mut old = body("old", "#01FF02", json!("sun"), json!([]));
    for (star, distance, speed) in [(&mut sun, 0, 0), (&mut old, 10, 1)] {
        star["orbitalDistance"] = json!(distance);
        star["orbitalSpeed"] = json!(speed);
        star["orbitalPhase"] = json!(0);
    }
    let mut new = body("new", "#01FF03", json!("sun"), json!([]));
    new["elements"] = json!({ "semiMajorAxis": 20, "period": 360 });
    let state = json!({ "stars": { "sun": sun, "old": old, "new": new }, "rootIds": ["sun"] });
    let id = server.client.create("turning", state).await;
    for color in ["#01ff02", "#01ff03"] {
        let mut seen = Vec::new();
        for time in [0, 30, 60] {
            let drawn = server.client.get(&format!("/universes/{id}.svg?time={time}")).await;
            let svg = String::from_utf8_lossy(&drawn.body).to_ascii_lowercase();
            let disc = svg.split("<circle ").find(|it| it.contains(&format!("fill=\"{color}\"")));
            let disc = disc.unwrap_or_else(|| panic!("no disc in {color}: {svg}")).to_owned();
            let number = |name: &str| {
                let (_, rest) = disc.split_once(&format!("{name}=\"")).unwrap();
                rest.split_once('"').unwrap().0.parse::<f64>().unwrap()
            };
            seen.push([number("cx"), number("cy")]);
        }
        let [[ax, ay], [bx, by], [cx, cy]] = [seen[0], seen[1], seen[2]];
        // y grows downwards.
        assert!((bx - ax) * (cy - by) - (by - ay) * (cx - bx) < 0.0, "{color}: {seen:?}");
    }
}

#[tokio::test]
async fn an_answer_says_where_when_and_in_which_unit() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    let query = "at=2026-11-27T00:00:00Z&bodies=mars,earth&from=sun";
    let found = places(server.client, &id, query).await;
    let members: Vec<_> = found.as_object().unwrap().keys().cloned().collect();
    assert_eq!(members.len(), 7, "{members:?}");
    for (name, value) in [
        ("universe", json!(id)),
        ("at", json!("2026-11-27T00:00:00Z")),
        ("time", json!(849_009_600.0)),
        ("frame", json!("ecliptic-j2000")),
        ("unit", json!("au")),
        ("from", json!("sun")),
    ] {
        assert_eq!(found[name], value, "{name}");
    }
    assert_eq!(found["places"][0]["id"], "mars");
    // Two bodies are short enough for a model: some 45 tokens each.
    assert!(found["places"].to_string().len() < 2 * 125, "{}", found["places"]);

    for (query, time) in
        [("at=86400", 86_400.0), ("", 0.0), ("at=2000-01-01T12:00:00%2B00:00", 0.0)]
    {
        let found = places(server.client, &id, &format!("bodies=sun&{query}")).await;
        assert_eq!(found["time"], time, "{query}");
        assert_eq!(found["from"], Value::Null);
    }
    // The last day of dates, on which a timestamp of `jiff` has ended.
    for (at, said) in [
        ("9999-12-31", "9999-12-31T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ("-009999-01-01T00:00:00Z", "-009999-01-01T00:00:00Z"),
        ("2026-11-27T01:30:00%2B01:30", "2026-11-27T00:00:00Z"),
    ] {
        let found = places(server.client, &id, &format!("bodies=earth&at={at}")).await;
        assert_eq!(found["at"], said);
    }
    let now = places(server.client, &id, "at=now&bodies=earth").await;
    assert!(now["time"].as_f64().unwrap() > 8e8, "{now}");
    let own = places(server.client, &id, "bodies=earth&from=earth").await;
    assert_eq!(own["places"][0]["longitude"], Value::Null);

    let mut seen = 0;
    let mut query = "limit=20".to_owned();
    loop {
        let page = places(server.client, &id, &query).await;
        seen += page["places"].as_array().unwrap().len();
        let Some(next) = page["next"].as_str() else { break };
        query = format!("limit=20&cursor={next}");
    }
    let bodies = server.client.universe(&id).await["state"]["stars"].as_object().unwrap().len();
    assert_eq!(seen, bodies);
}

#[tokio::test]
async fn a_direction_has_three_decimals_at_most() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    for time in 0..10 {
        let found = places(server.client, &id, &format!("at={time}e7&from=sun")).await;
        for place in found["places"].as_array().unwrap() {
            for name in ["longitude", "latitude"] {
                let text = place[name].to_string();
                let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                assert!(decimals <= 3, "{place}");
                assert!(place[name].as_f64().is_none_or(|angle| angle < 360.0), "{place}");
            }
        }
    }
}

#[tokio::test]
async fn a_question_that_has_no_answer_is_refused_with_a_sentence() {
    let server = Local::start().await;
    let id = sol(server.client).await;
    for (query, status, said) in [
        ("bodies=marz", 404, "did you mean mars?"),
        ("bodies=sun&from=erth", 404, "did you mean earth?"),
        ("at=yesterday", 400, "a date such as"),
        ("at=2026-02-30", 400, "a date such as"),
        ("at=10000-01-01", 400, "up to the year 9999, `now`"),
        ("bodies=", 400, "leave it out for all"),
        ("bodies=,", 400, "leave it out for all"),
        ("separations=", 400, "2 to 10"),
        ("separations=sun", 400, "2 to 10"),
        ("separations=sun,moon&from=moon", 400, "another `from`"),
        ("limit=101", 400, "1 to 100"),
        ("body=mars", 400, "did you mean bodies?"),
    ] {
        let (found, error) = refused(server.client, &id, query).await;
        assert!(found == status && error.contains(said), "{query}: {found} {error}");
    }
    for (at, is_far) in [("1066-10-14", true), ("1969-07-20", false), ("9999-01-01", true)] {
        let found = places(server.client, &id, &format!("at={at}&from=earth&bodies=moon")).await;
        let note = found["note"].as_str().unwrap_or_default();
        assert_eq!(note.contains("extrapolated"), is_far, "{found}");
    }
    let plain = server.client.create("plain", json!({})).await;
    let body = json!({ "type": "addStar", "id": "a", "payload": { "name": "A", "mass": 1, "radius": 1,
        "color": "#FFFFFF", "parentId": null, "orbitalDistance": 0, "orbitalSpeed": 0 } });
    server.client.command(&plain, &body).await;
    let (status, error) = refused(server.client, &plain, "at=2026-11-27").await;
    assert!(status == 422 && error.contains("no `epoch`"), "{error}");
    let found = places(server.client, &plain, "at=5").await;
    assert_eq!((&found["unit"], &found["at"]), (&Value::Null, &Value::Null));
    let drawn = server.client.get(&format!("/universes/{plain}.svg?time=2026-11-27")).await;
    assert_eq!(drawn.status, 422);
    let drawn = server.client.get(&format!("/universes/{id}.svg?focus=marz")).await;
    assert!(drawn.error().contains("did you mean mars?"), "{drawn:?}");
    let drawn = server.client.get(&format!("/universes/{id}.svg?time=2026-11-27")).await;
    assert!(String::from_utf8_lossy(&drawn.body).contains("2026-11-27"), "{drawn:?}");

    for era in Era::BOTH {
        let mcp = Mcp::new(server.client, era).await;
        let ask = |select: Value| json!({ "universeId": id, "select": select });
        let error = mcp
            .refusal("get_universe_state", ask(json!({ "places": { "bodies": ["marz"] } })))
            .await;
        assert!(error.contains("did you mean mars?"), "{error}");
        let error =
            mcp.refusal("get_universe_state", ask(json!({ "places": { "body": ["mars"] } }))).await;
        assert!(error.contains("bodies"), "{error}");
        let none = mcp.refusal("get_universe_state", ask(json!({ "places": { "bodies": [] } })));
        assert!(none.await.contains("leave it out for all"));
        let none = json!({ "places": { "bodies": ["mars"], "separations": [] } });
        let none = mcp.refusal("get_universe_state", ask(none)).await;
        assert!(none.contains("name 2 to 10 bodies, found 0"), "{none}");
        let both = json!({ "places": {}, "ids": ["mars"] });
        assert!(mcp.refusal("get_universe_state", ask(both)).await.contains("alone"));
        let tick = json!({ "type": "tick", "until": "2026-11-27T00:00:00Z" });
        let ticked = mcp.command(&id, &tick).await;
        assert_eq!(ticked["time"], 849_009_600.0);
        let refused = mcp
            .refusal("send_universe_command", json!({ "universeId": plain, "command": tick }))
            .await;
        assert!(refused.contains("no `epoch`"), "{refused}");
    }
}
