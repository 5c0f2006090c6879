//! Matching URIs against templates: the reverse of expansion, its rules, its bounds.

use mcp_proto::uri_template::{UriTemplate, Variables};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// The values as `name=value`.
fn matched(template: &str, uri: &str) -> Option<String> {
    let values = template.parse::<UriTemplate>().unwrap().match_uri(uri)?;
    let values = values.iter().map(|(name, value)| format!("{name}={value}"));
    Some(values.collect::<Vec<_>>().join(" "))
}

fn matches(cases: &[(&str, &str, &str)]) {
    for (template, uri, values) in cases {
        assert_eq!(matched(template, uri).as_deref(), Some(*values), "{template} and {uri}");
    }
}

fn matches_not(cases: &[(&str, &str)]) {
    for (template, uri) in cases {
        assert_eq!(matched(template, uri), None, "{template} and {uri}");
    }
}

#[test]
fn literals_are_themselves() {
    matches(&[
        ("", "", ""),
        ("docs://full", "docs://full", ""),
        ("x/%C3%a9", "x/%c3%A9", ""),
        ("x/é", "x/%c3%a9", ""),
        ("x/%C3%A9", "x/é", ""),
    ]);
    matches_not(&[
        ("", "x"),
        ("docs://full", "docs://ful"),
        ("docs://full", "docs://fullx"),
        ("docs://full", "DOCS://full"),
        ("x/a", "x/%61"),
        ("x/é", "x/e"),
        ("{a}/full", "x/fool"),
    ]);
}

#[test]
fn a_simple_variable_stays_in_its_segment() {
    matches(&[
        ("test://template/{id}/data", "test://template/123/data", "id=123"),
        ("a/{id}", "a/..", "id=.."),
        ("a/{id}", "a/%2e%2E%2fx%00", "id=../x\0"),
        ("a/{id}", "a/Gr%C3%B6%c3%9fe", "id=Größe"),
        ("a/{id}", "a/Größe", "id=Größe"),
        ("{a}-{b}", "x-y-z", "a=x-y b=z"),
        ("{a}{b}", "xyz", "a=xy b=z"),
        ("{x,y}", "1024,768", "x=1024 y=768"),
        // microsoft/vscode-copilot-release#13430, modelcontextprotocol/python-sdk#3526, PrefectHQ/fastmcp#5166: how
        // clients expand names, none of which encodes as RFC 6570 says.
        ("a/{id}", "a/The Forge", "id=The Forge"),
        ("a/{id}", "a/Mum's%20boat%20(2024)!", "id=Mum's boat (2024)!"),
        ("a/{id}", "a/+358%2040%201,2&@3:4;5=$6*", "id=+358 40 1,2&@3:4;5=$6*"),
        ("a/{id}", "a/\"<b>\"\\^`{|}", "id=\"<b>\"\\^`{|}"),
        ("{a}:{b};v={c}", "x:y:z;v=1;2", "a=x b=y:z c=1;2"),
        ("{x,y}", "1,2,3", "x=1 y=2,3"),
    ]);
    matches_not(&[
        ("a/{id}", "a/"),
        ("a/{id}", "a/b/c"),
        ("a/{id}", "a/b?c"),
        ("a/{id}", "a/b#c"),
        ("a/{id}", "a/b[c]"),
        ("a/{id}", "a/b%zz"),
        ("a/{id}", "a/%"),
        ("a/{id}", "a/%4"),
        ("a/{id}", "a/%zz"),
        ("a/{id}", "a/%FF"),
        ("a/{id}", "a/%C3"),
        ("a/{id}", "a/%C3x"),
        ("a/{id}", "a/%ED%A0%80"),
        ("a/{id}", "a/%C0%AF"),
        ("{x,y}", "1024"),
    ]);
}

#[test]
fn a_reserved_variable_crosses_segments() {
    matches(&[
        ("file:///{+path}", "file:///a/b%20c/d.txt?e#f", "path=a/b c/d.txt?e#f"),
        ("file:///{+path}{?rev}", "file:///a/b?rev=7", "path=a/b rev=7"),
        ("file:///{+path}{?rev}", "file:///a/b", "path=a/b"),
        ("file:///{+path}?rev={rev}", "file:///a/b?rev=7", "path=a/b rev=7"),
        ("file:///{+path}{#line}", "file:///a?b#7", "path=a?b line=7"),
        ("{+path}{?q}{#f}", "a/b?q=1#2", "path=a/b q=1 f=2"),
        ("{+path}/{last}", "a/b/c", "path=a/b last=c"),
        ("{+path}{/last}", "a/b/c", "path=a/b last=c"),
        ("{+path,x}/here", "/foo/bar,1024/here", "path=/foo/bar x=1024"),
        ("{+path,x}", "a,b,c", "path=a x=b,c"),
    ]);
    matches_not(&[
        ("file:///{+path}", "file:///"),
        ("file:///{+path}", "file:///a\tb"),
        ("file:///{+path}", "file:///%FF"),
        ("file:///{+path}{?rev}", "file:///a?other=7"),
        ("file:///{+path}{#line}", "file:///a#b#c\td"),
    ]);
}

#[test]
fn marked_values_may_be_absent() {
    matches(&[
        ("x{/a,b}", "x", ""),
        ("x{/a,b}", "x/1", "a=1"),
        ("x{/a,b}", "x/1/2", "a=1 b=2"),
        ("x{/a,b}", "x/", "a="),
        ("x{/a,b}", "x//", "a= b="),
        ("{name}{.ext}", "a.tar.gz", "name=a.tar ext=gz"),
        ("{name}{.ext}", "a", "name=a"),
        ("{name}{.ext}", ".bashrc", "name=.bashrc"),
        ("{name}{.ext}", "a.", "name=a ext="),
        ("x{.a,b}", "x.1024.768", "a=1024 b=768"),
        ("x{.a,b}", "x.1.2.3", "a=1 b=2.3"),
        ("x{.a,b}", "x...", "a= b=."),
        ("x{#f}", "x", ""),
        ("x{#f}", "x#", "f="),
        ("x{#f}", "x#a/b?c%23", "f=a/b?c#"),
        ("x{#f,g}", "x#1,2", "f=1 g=2"),
        ("x{#f,g}y", "xy", ""),
    ]);
    matches_not(&[
        ("x{/a,b}", "x/1/2/3"),
        ("x{/a}", "x1"),
        ("x{/a}", "x/1?2"),
        ("x{.a}", "x/a"),
        ("x{#f,g}", "x#1"),
        ("x{#f}", "x?f"),
    ]);
}

#[test]
fn parameters_come_in_any_order() {
    matches(&[
        ("s{?q,lang}", "s", ""),
        ("s{?q,lang}", "s?lang=en&q=a%26b", "q=a&b lang=en"),
        ("s{?q,lang}", "s?q=", "q="),
        ("s{?q,lang}", "s?q", "q="),
        (
            "s{?q}",
            "s?q=2026-01-01T10:00:00+01:00/P1D;a,b=c",
            "q=2026-01-01T10:00:00+01:00/P1D;a,b=c",
        ),
        ("s{?q,qq}", "s?qq=1", "qq=1"),
        ("s{?q.a,q}", "s?q=1&q.a=2", "q.a=2 q=1"),
        ("s{?Stra%C3%9fe}", "s?Stra%c3%9Fe=1", "Stra%C3%9fe=1"),
        ("s{?list}", "s?list=red,green", "list=red,green"),
        ("s?fixed=yes{&x,y}", "s?fixed=yes&y=2&x=1", "x=1 y=2"),
        ("s?fixed=yes{&x,y}", "s?fixed=yes", ""),
        ("s{?a}&fixed=yes", "s?a=1&fixed=yes", "a=1"),
        ("s{?a}{&b,c}", "s?a=1&c=3&b=2", "a=1 b=2 c=3"),
        ("s{?a}{#f}", "s?a=1#2", "a=1 f=2"),
        ("s{;p,q}", "s;q=1;p", "p= q=1"),
        ("s{;p,q}/{r}", "s;q=1/2", "q=1 r=2"),
        ("s{;p}(x)", "s;p=1,2(x)", "p=1,2"),
        ("s{;p}(x)", "s;p(x)", "p="),
        ("s{;p}{?q}", "s?q=1", "q=1"),
    ]);
    matches_not(&[
        ("s{?q,lang}", "s?"),
        ("s{?q,lang}", "s?other=1"),
        ("s{?q,lang}", "s?q=1&other=1"),
        ("s{?q,lang}", "s?Q=1"),
        ("s{?q,lang}", "s?q=1&q=2"),
        ("s{?q,lang}", "s?q=1&"),
        ("s{?q,lang}", "s?&q=1"),
        ("s{?q,lang}", "s&q=1"),
        ("s{?q,lang}", "s?q=1?lang=en"),
        ("s{?q,lang}", "s?q=a\tb"),
        ("s{?q,lang}", "s?q=%FF"),
        ("s{?q,lang}", "s?q=1#f"),
        ("s{?q}", "s?qq=1"),
        ("s?fixed=yes{&x}", "s?x=1&fixed=yes"),
        ("s{;p}", "s;p=a/b"),
        ("s{;p}", "s;p=a:b"),
        ("s{;p}.x", "s;p=1.x"),
        ("s{?q}", "s?q=a?b"),
        ("s{;p}", "s;p=1;p=1"),
    ]);
}

#[test]
fn a_variable_has_one_value() {
    matches(&[("{a}/{a}", "x/x", "a=x"), ("{a}{?a}", "x", "a=x")]);
    matches_not(&[("{a}/{a}", "x/y"), ("{a}{?a}", "x?a=y"), ("s{?a,a}", "s?a=1&a=1")]);
}

#[test]
fn long_uris_never_match() {
    let template: UriTemplate = "{+a}".parse().unwrap();
    let longest = "a".repeat(UriTemplate::MAX_URI_BYTES);
    assert_eq!(template.match_uri(&longest).unwrap().get("a"), Some(longest.as_str()));
    assert_eq!(template.match_uri(&(longest + "a")), None);
    // The bound is on the URI as it is, not on its percent-encoding.
    let longest = "€".repeat(UriTemplate::MAX_URI_BYTES / 3);
    assert_eq!(template.match_uri(&longest).unwrap().get("a"), Some(longest.as_str()));
}

/// Trying every way to share these out would not end in this world's time.
#[test]
fn no_uri_makes_matching_explode() {
    let many = |piece: &str, count: usize| {
        let pieces = (0..count).map(|number| piece.replace('N', &number.to_string()));
        pieces.collect::<String>()
    };
    for (piece, count, unit) in [
        ("{vN}", 63, "a"),
        ("{+vN}", 63, "/"),
        ("a{vN}", 63, "a"),
        ("{+vN},", 63, "a,"),
        ("{.vN}", 63, ".a"),
    ] {
        let text = many(piece, count) + "{?end}";
        let template: UriTemplate = text.parse().unwrap();
        let uri = unit.repeat(4096 / unit.len());
        // What spoils the match is at the very end.
        for end in ["\t", "?end=\t", "?end=1&"] {
            assert_eq!(template.match_uri(&format!("{uri}{end}")), None, "{text} {end}");
        }
    }
    let template: UriTemplate = many("{vN}", 64).parse().unwrap();
    let values = template.match_uri(&"a".repeat(4096)).unwrap();
    assert_eq!(values.len(), 64);
    assert_eq!(values.get("v0").map(str::len), Some(4096 - 63));
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

/// An expression with this operator and a value, or none, for each of its variables, whose names have the number in
/// them. What it expands to can be told from what is around it, if that is in parentheses.
fn expression() -> impl Strategy<Value = (&'static str, Vec<Option<String>>)> {
    let any = || ".{1,6}";
    // Reserved characters stay as they are there, and triplets, which are decoded.
    let kept = || "[^%(),?#\n]{1,6}";
    prop_oneof![
        (Just(""), vec(any().prop_map(Some), 1..4)),
        (Just("+"), vec(kept().prop_map(Some), 1..4)),
        (Just("."), vec("[^.\n]{0,6}".prop_map(Some), 1..4)),
        (Just("/"), vec(".{0,6}".prop_map(Some), 1..4)),
        (select(vec![".", "/"]), vec(Just(None), 1..3)),
        (Just(";"), vec(option::of(".{0,6}"), 1..4)),
    ]
}

/// A template with values.
fn filled() -> impl Strategy<Value = (String, Variables)> {
    let query = vec(option::of(".{0,6}"), 1..4);
    let fragment = option::of("[^%\n]{0,6}");
    (vec(expression(), 0..5), query, fragment).prop_map(|(mut expressions, query, fragment)| {
        expressions.push(("?", query));
        expressions.push(("#", vec![fragment]));
        let mut text = "x:".to_owned();
        let mut variables = Variables::new();
        for (number, (operator, values)) in expressions.iter().enumerate() {
            let name = |place| format!("v{number}.{place}");
            let names: Vec<_> = (0..values.len()).map(name).collect();
            text += &format!("{{{operator}{}}}", names.join(","));
            if !["?", "#"].contains(operator) {
                text += &format!("({number})");
            }
            for (name, value) in names.into_iter().zip(values) {
                variables.extend(value.clone().map(|value| (name, value)));
            }
        }
        (text, variables)
    })
}

/// A piece of a template that may stand anywhere before a query, with a value that its expansion can give back; `N` is
/// for the number of the piece.
fn piece() -> impl Strategy<Value = (&'static str, Option<String>)> {
    prop_oneof![
        (select(vec!["a", "/", ".", "-", "a.a"]), Just(None)),
        (Just("{vN}"), "[a./é-]{1,4}".prop_map(Some)),
        (select(vec!["{.vN}", "{/vN}"]), "[a./é-]{0,4}".prop_map(Some)),
        (select(vec!["{.vN}", "{/vN}"]), Just(None)),
    ]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_was_expanded_is_given_back((text, variables) in filled()) {
        let template: UriTemplate = text.parse().unwrap();
        let uri = template.expand(&variables);
        prop_assert_eq!(template.match_uri(&uri), Some(variables), "{} of {}", uri, text);
    }

    #[test]
    fn what_was_expanded_matches_however_it_may_be_read(
        pieces in vec(piece(), 0..7),
        query in option::of(option::of("[a=&?/+ ]{0,4}")),
    ) {
        let mut text = String::new();
        let mut variables = Variables::new();
        for (number, (piece, value)) in pieces.into_iter().enumerate() {
            text += &piece.replace('N', &number.to_string());
            variables.extend(value.map(|value| (format!("v{number}"), value)));
        }
        if let Some(value) = query {
            text += "{?q}";
            variables.extend(value.map(|value| ("q", value)));
        }
        let template: UriTemplate = text.parse().unwrap();
        let uri = template.expand(&variables);
        let again = template.match_uri(&uri);
        prop_assert!(again.is_some(), "{} of {}", uri, text);
        // Read in another way, perhaps, but as the same URI.
        prop_assert_eq!(template.expand(&again.unwrap_or_default()), uri, "{}", text);
    }

    #[test]
    fn any_text_is_a_template_or_an_error(
        text in prop_oneof![".{0,60}", "[a-c{}+#./;?&*:,0-9%=|é ]{0,40}", "([/.a]|\\{[+#./;?&]?[a-c.]{1,2}(\\*|:3|,c)?\\}){0,8}"],
        uri in prop_oneof![".{0,60}", "[a-c+#./;?&,=%0-9A-Fé]{0,40}"],
    ) {
        match UriTemplate::parse(&text) {
            Ok(template) => {
                prop_assert_eq!(template.as_str(), &text);
                let _values = template.match_uri(&uri);
                let named: Variables = template.variables().map(|name| (name, uri.as_str())).collect();
                prop_assert!(template.expand(&named).is_ascii());
            }
            Err(error) => {
                prop_assert!(text.is_char_boundary(error.offset), "{}", error);
                prop_assert!(!error.message.is_empty());
            }
        }
    }
}
