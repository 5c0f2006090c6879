//! TRAPPIST-1 as the tutorial builds it: as it was measured, and at what price a model builds it over MCP.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::binary;
use crate::harness::{Era, Local, Stdio};

/// Transits as Agol et al. 2021 give them (The Planetary Science Journal 2, 1, table 2): days after
/// BJD 2457257.93115525, which is time 0.
const TRANSITS: [(&str, f64); 7] = [
    ("b", -0.380_715),
    ("c", 0.656_125),
    ("d", -0.863_475),
    ("e", -0.103_445),
    ("f", -0.856_895),
    ("g", -0.216_535),
    ("h", -8.324_395),
];

/// The bodies of requests in the tutorial: the universe, the star, the planets.
fn tutorial() -> [Value; 3] {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/tutorial.md");
    let page = std::fs::read_to_string(path).unwrap();
    let bodies = page.split(" -d '").skip(1).map(|it| it.split_once('\'').unwrap().0);
    let bodies: Vec<Value> = bodies.take(3).map(|it| serde_json::from_str(it).unwrap()).collect();
    bodies.try_into().unwrap()
}

#[tokio::test]
async fn the_planets_of_the_tutorial_obey_kepler_and_cross_their_star_when_they_did() {
    let [made, star, planets] = tutorial();
    let server = Local::start().await;
    let made = server.client.post("/universes", &made).await.json();
    let id = made["id"].as_str().unwrap();
    for commands in [&star, &planets] {
        let path = format!("/universes/{id}/commands?result=events");
        let sent = server.client.post(&path, commands).await;
        assert_eq!(sent.status, 200, "{sent:?}");
        assert_eq!(sent.json()["warnings"], Value::Null, "{sent:?}");
    }
    // In years, astronomical units, and masses of the Sun, which is 332,946 of the Earth.
    let mass = star["payload"]["mass"].as_f64().unwrap() / 332_946.0;
    for planet in planets.as_array().unwrap() {
        let number = |name: &str| planet["payload"]["elements"][name].as_f64().unwrap();
        let years = number("period") / 86_400.0 / 365.25;
        let predicted = (number("semiMajorAxis").powi(3) / mass).sqrt();
        assert!((predicted / years - 1.0).abs() < 0.003, "{planet}");
    }
    for (planet, days) in TRANSITS {
        let at = days * 86_400.0;
        let path = format!("/universes/{id}/places?at={at}&from=trappist-1&bodies={planet}");
        let found = server.client.get(&path).await.json();
        let longitude = found["places"][0]["longitude"].as_f64().unwrap();
        assert!((longitude - 90.0).abs() < 0.05, "{planet}: {longitude}");
    }
}

/// What a model writes and reads in one call, in bytes; a token is some four of them.
struct Price {
    calls: usize,
    written: usize,
    read: usize,
}

impl Price {
    async fn call(&mut self, stdio: &mut Stdio, name: &str, arguments: Value) -> Value {
        let written = arguments.to_string().len();
        let result = stdio.tool(name, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        let texts = result["content"].as_array().unwrap().iter();
        let read: usize = texts.map(|it| it["text"].as_str().unwrap().len()).sum();
        eprintln!("{name}: {written} bytes written, {read} read, {} tokens", (written + read) / 4);
        self.calls += 1;
        self.written += written;
        self.read += read;
        result["structuredContent"].clone()
    }

    fn tokens(&self) -> usize {
        (self.written + self.read) / 4
    }
}

/// The three tools of every server and the one that makes universes; and with the one that sends several commands.
#[tokio::test]
async fn a_model_builds_it_for_few_tokens() {
    let [made, star, planets] = tutorial();
    for era in Era::BOTH {
        for (at_once, most) in [(false, 1_250), (true, 1_050)] {
            let dir = TempDir::new().unwrap();
            let mut command = binary();
            command.args(["--stdio", "--extra-tools", "--data-dir"]).arg(dir.path());
            let mut stdio = Stdio::start(command, era).await;
            let mut price = Price { calls: 0, written: 0, read: 0 };
            let created = price.call(&mut stdio, "create_universe", made.clone()).await;
            let id = &created["universeId"];
            let mut commands = vec![star.clone()];
            commands.extend(planets.as_array().unwrap().iter().cloned());
            if at_once {
                let arguments =
                    json!({ "universeId": id, "commands": commands, "result": "events" });
                price.call(&mut stdio, "send_universe_commands", arguments).await;
            } else {
                for command in commands {
                    let arguments =
                        json!({ "universeId": id, "command": command, "result": "events" });
                    price.call(&mut stdio, "send_universe_command", arguments).await;
                }
            }
            let select =
                json!({ "places": { "at": "2015-08-23T01:12:38Z", "from": "trappist-1" } });
            let arguments = json!({ "universeId": id, "select": select });
            let found = price.call(&mut stdio, "get_universe_state", arguments).await;
            assert_eq!(found["places"].as_array().unwrap().len(), 8);
            eprintln!("{} calls, {} tokens", price.calls, price.tokens());
            assert!(price.tokens() <= most, "{} tokens", price.tokens());
        }
    }
}
