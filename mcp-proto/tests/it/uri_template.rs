//! URI templates: the tables of RFC 6570, and what is no template.

use mcp_proto::{UriTemplate, UriValue, Variables};

fn template(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn list(items: &[&str]) -> UriValue {
    UriValue::List(items.iter().map(|&item| item.to_owned()).collect())
}

fn map(pairs: &[(&str, &str)]) -> UriValue {
    let pairs = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
    UriValue::Map(pairs.collect())
}

/// The variables of RFC 6570 §3.2; those of §1.2 are among them.
fn variables() -> Variables {
    Variables::from([
        ("count", list(&["one", "two", "three"])),
        ("dom", list(&["example", "com"])),
        ("dub", "me/too".into()),
        ("hello", "Hello World!".into()),
        ("half", "50%".into()),
        ("var", "value".into()),
        ("who", "fred".into()),
        ("base", "http://example.com/home/".into()),
        ("path", "/foo/bar".into()),
        ("list", list(&["red", "green", "blue"])),
        ("keys", map(&[("semi", ";"), ("dot", "."), ("comma", ",")])),
        ("v", "6".into()),
        ("x", "1024".into()),
        ("y", "768".into()),
        ("empty", "".into()),
        ("empty_keys", map(&[])),
    ])
}

fn expands(cases: &[(&str, &str)]) {
    let variables = variables();
    for (text, uri) in cases {
        assert_eq!(&template(text).expand(&variables), uri, "{text}");
    }
}

#[test]
fn the_examples_of_levels_1_to_3() {
    expands(&[
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("X{#var}", "X#value"),
        ("X{#hello}", "X#Hello%20World!"),
        ("map?{x,y}", "map?1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"),
        ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("X{.var}", "X.value"),
        ("X{.x,y}", "X.1024.768"),
        ("{/var}", "/value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"),
        ("{;x,y,empty}", ";x=1024;y=768;empty"),
        ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="),
    ]);
}

#[test]
fn the_examples_of_level_4() {
    expands(&[
        ("{var:3}", "val"),
        ("{var:30}", "value"),
        ("{list}", "red,green,blue"),
        ("{list*}", "red,green,blue"),
        ("{keys}", "semi,%3B,dot,.,comma,%2C"),
        ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{+list}", "red,green,blue"),
        ("{+list*}", "red,green,blue"),
        ("{+keys}", "semi,;,dot,.,comma,,"),
        ("{+keys*}", "semi=;,dot=.,comma=,"),
        ("{#path:6}/here", "#/foo/b/here"),
        ("{#list}", "#red,green,blue"),
        ("{#list*}", "#red,green,blue"),
        ("{#keys}", "#semi,;,dot,.,comma,,"),
        ("{#keys*}", "#semi=;,dot=.,comma=,"),
        ("X{.var:3}", "X.val"),
        ("X{.list}", "X.red,green,blue"),
        ("X{.list*}", "X.red.green.blue"),
        ("X{.keys}", "X.semi,%3B,dot,.,comma,%2C"),
        ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"),
        ("{/var:1,var}", "/v/value"),
        ("{/list}", "/red,green,blue"),
        ("{/list*}", "/red/green/blue"),
        ("{/list*,path:4}", "/red/green/blue/%2Ffoo"),
        ("{/keys}", "/semi,%3B,dot,.,comma,%2C"),
        ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
        ("{;hello:5}", ";hello=Hello"),
        ("{;list}", ";list=red,green,blue"),
        ("{;list*}", ";list=red;list=green;list=blue"),
        ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"),
        ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
        ("{?var:3}", "?var=val"),
        ("{?list}", "?list=red,green,blue"),
        ("{?list*}", "?list=red&list=green&list=blue"),
        ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
        ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
        ("{&var:3}", "&var=val"),
        ("{&list}", "&list=red,green,blue"),
        ("{&list*}", "&list=red&list=green&list=blue"),
        ("{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"),
        ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
    ]);
}

/// What §3.2 adds to the tables of §1.2.
#[test]
fn the_examples_of_the_operators() {
    expands(&[
        ("{count}", "one,two,three"),
        ("{count*}", "one,two,three"),
        ("{/count}", "/one,two,three"),
        ("{/count*}", "/one/two/three"),
        ("{;count}", ";count=one,two,three"),
        ("{;count*}", ";count=one;count=two;count=three"),
        ("{?count}", "?count=one,two,three"),
        ("{?count*}", "?count=one&count=two&count=three"),
        ("{&count*}", "&count=one&count=two&count=three"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"),
        ("?{undef,y}", "?768"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("O{+empty}X", "OX"),
        ("O{+undef}X", "OX"),
        ("up{+path}{var}/here", "up/foo/barvalue/here"),
        ("{#half}", "#50%25"),
        ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"),
        ("{.who}", ".fred"),
        ("{.who,who}", ".fred.fred"),
        ("{.half,who}", ".50%25.fred"),
        ("www{.dom*}", "www.example.com"),
        ("X{.empty}", "X."),
        ("X{.undef}", "X"),
        ("X{.empty_keys}", "X"),
        ("X{.empty_keys*}", "X"),
        ("{/who}", "/fred"),
        ("{/who,who}", "/fred/fred"),
        ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var,empty}", "/value/"),
        ("{/var,undef}", "/value"),
        ("{;who}", ";who=fred"),
        ("{;half}", ";half=50%25"),
        ("{;empty}", ";empty"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;v,bar,who}", ";v=6;who=fred"),
        ("{;x,y,undef}", ";x=1024;y=768"),
        ("{?who}", "?who=fred"),
        ("{?half}", "?half=50%25"),
        ("{?x,y,undef}", "?x=1024&y=768"),
        ("{&who}", "&who=fred"),
        ("{&half}", "&half=50%25"),
        ("{&x,y,undef}", "&x=1024&y=768"),
    ]);
}

#[test]
fn corners_of_expansion() {
    let variables = Variables::from([
        ("triplet", UriValue::from("a%2Fb%zz%")),
        ("street", "Größe".into()),
        ("encoded", "%C3%A9%FFé!".into()),
        ("broken", "%C3%41b".into()),
        ("a.b", "dotted".into()),
        ("Stra%C3%9Fe", "named".into()),
        ("none", list(&[])),
        ("blank", list(&["", ""])),
        ("pairs", map(&[("a&b", ""), ("c", "=")])),
    ]);
    for (text, uri) in [
        ("{triplet}", "a%252Fb%25zz%25"),
        ("{+triplet}", "a%2Fb%25zz%25"),
        ("{street:3}", "Gr%C3%B6"),
        ("{+encoded:1}", "%C3%A9"),
        ("{+encoded:2}", "%C3%A9%FF"),
        ("{+encoded:3}", "%C3%A9%FF%C3%A9"),
        ("{+broken:1}", "%C3"),
        ("{encoded:3}", "%25C3"),
        ("{?a.b,Stra%C3%9Fe}", "?a.b=dotted&Stra%C3%9Fe=named"),
        ("x{/none}{?none*}{#none}", "x"),
        ("x{/blank*}{?blank*}{;blank*}", "x//?blank=&blank=;blank;blank"),
        ("{?pairs*}", "?a%26b=&c=%3D"),
        ("{;pairs*}", ";a%26b;c=%3D"),
        ("{pairs*}", "a%26b=,c=%3D"),
        ("/é'%c3%a9/{none}", "/%C3%A9'%c3%a9/"),
        ("", ""),
    ] {
        assert_eq!(template(text).expand(&variables), uri, "{text}");
    }
}

#[test]
fn a_template_is_its_text_and_its_names() {
    let text = "a://{b}/{+c*,b:3}{?d.e,%20}";
    let template = template(text);
    assert_eq!(template.as_str(), text);
    assert_eq!(template.to_string(), text);
    assert_eq!(format!("{template:?}"), format!("UriTemplate({text:?})"));
    assert_eq!(template.variables().collect::<Vec<_>>(), ["b", "c", "d.e", "%20"]);
    assert_eq!(text.parse(), Ok(template.clone()));
    assert_ne!("a://{b}".parse(), Ok(template));
}

#[test]
fn what_is_no_template_is_told_where_and_why() {
    for (text, offset, says) in [
        ("a{b", 1, "end it with `}`"),
        ("a{", 1, "end it with `}`"),
        ("/id*}", 4, "write `%7D`"),
        ("é{b}}", 5, "write `%7D`"),
        ("a b", 1, "write `%20`"),
        ("a|b", 1, "write `%7C`"),
        ("a\u{fdd0}", 1, "write `%EF%B7%90`"),
        ("a\u{1fffe}", 1, "write `%F0%9F%BF%BE`"),
        ("50%", 2, "write `%25`"),
        ("50%2g", 2, "write `%25`"),
        ("a{}", 2, "name a variable"),
        ("{=path}", 1, "use none, or one of `+ # . / ; ? &`"),
        ("{,a}", 1, "RFC 6570 reserves the operator `,`"),
        ("{!hello}", 1, "the operator `!`"),
        ("{@a}", 1, "the operator `@`"),
        ("{|var*}", 1, "the operator `|`"),
        ("{+}", 2, "a variable has no name"),
        ("{a,}", 3, "a variable has no name"),
        ("{?a,,b}", 4, "a variable has no name"),
        ("{*a}", 1, "a variable has no name"),
        ("{:3}", 1, "a variable has no name"),
        ("{??hello}", 2, "'?' may not stand here"),
        ("{/?id}", 2, "'?' may not stand here"),
        ("{$var}", 1, "'$' may not stand here"),
        ("{a-b}", 2, "'-' may not stand here"),
        ("{?x, y}", 4, "' ' may not stand here"),
        ("{aé}", 2, "'é' may not stand here"),
        ("{a{b}}", 2, "'{' may not stand here"),
        ("{.a..b}", 4, "'.' may not stand here"),
        ("{..a}", 2, "'.' may not stand here"),
        ("{a.}", 3, "ends with a dot"),
        ("{a%2}", 2, "'%' may not stand here"),
        ("{var:prefix}", 5, "from 1 to 9999"),
        ("{a:}", 3, "from 1 to 9999"),
        ("{a:0}", 3, "from 1 to 9999"),
        ("{a:03}", 3, "from 1 to 9999"),
        ("{a:+3}", 3, "from 1 to 9999"),
        ("{a:10000}", 3, "from 1 to 9999"),
        ("{hello:2*}", 7, "from 1 to 9999"),
        ("{a*:2}", 3, "`*` ends a variable"),
        ("{a**}", 3, "`*` ends a variable"),
        ("{?empty=default,var}", 7, "'=' may not stand here"),
    ] {
        let error = UriTemplate::parse(text).expect_err(text);
        assert_eq!(error.offset, offset, "{text}: {error}");
        assert!(error.message.contains(says), "{text}: {error}");
        assert!(
            error.to_string().starts_with(&format!("not a URI template: at byte {offset}, ")),
            "{error}"
        );
    }
    assert!(UriTemplate::parse("{a:9999}{b:1}").is_ok());
}

#[test]
fn templates_have_bounds() {
    let longest = "x".repeat(UriTemplate::MAX_BYTES);
    assert!(UriTemplate::parse(&longest).is_ok());
    let error = UriTemplate::parse(&(longest + "x")).unwrap_err();
    assert_eq!(error.offset, UriTemplate::MAX_BYTES);
    assert!(error.message.contains("not 2049"), "{error}");
    let error = UriTemplate::parse(&"€".repeat(UriTemplate::MAX_BYTES)).unwrap_err();
    assert_eq!(error.offset, UriTemplate::MAX_BYTES / 3 * 3);

    let most = "{a}".repeat(UriTemplate::MAX_VARIABLES);
    assert!(UriTemplate::parse(&most).is_ok());
    let error = UriTemplate::parse(&(most + "{b}")).unwrap_err();
    assert!(error.message.contains("at most 64"), "{error}");
}

#[test]
fn variables_are_a_small_map() {
    let mut variables = Variables::new();
    assert!(variables.is_empty());
    variables.insert("a", "1");
    variables.insert("b", vec!["2".to_owned(), "3".to_owned()]);
    variables.insert("c", vec![("k".to_owned(), "v".to_owned())]);
    variables.insert("a", "4".to_owned());
    assert_eq!(variables.len(), 3);
    assert_eq!(
        (variables.get("a"), variables.get("b"), variables.get("c")),
        (Some("4"), None, None)
    );
    assert_eq!(variables.list("a").unwrap(), ["4"]);
    assert_eq!(variables.list("b").unwrap(), ["2", "3"]);
    assert_eq!((variables.list("c"), variables.list("d")), (None, None));
    assert_eq!(variables.value("c"), Some(&map(&[("k", "v")])));
    assert_eq!(variables.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "c"]);
}
