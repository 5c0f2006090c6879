//! URI templates: the tables of RFC 6570, and what is no template.

use mcp_proto::uri_template::{UriTemplate, Variables};

fn template(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// The variables of RFC 6570 §3.2; those of §1.2 are among them.
fn variables() -> Variables {
    Variables::from([
        ("dub", "me/too"),
        ("hello", "Hello World!"),
        ("half", "50%"),
        ("var", "value"),
        ("who", "fred"),
        ("base", "http://example.com/home/"),
        ("path", "/foo/bar"),
        ("v", "6"),
        ("x", "1024"),
        ("y", "768"),
        ("empty", ""),
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

/// What §3.2 adds to the tables of §1.2.
#[test]
fn the_examples_of_the_operators() {
    expands(&[
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
        ("X{.empty}", "X."),
        ("X{.undef}", "X"),
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
        ("triplet", "a%2Fb%zz%"),
        ("street", "Größe"),
        ("encoded", "%C3%A9%FFé!"),
        ("a.b", "dotted"),
        ("Stra%C3%9Fe", "named"),
    ]);
    for (text, uri) in [
        ("{triplet}", "a%252Fb%25zz%25"),
        ("{+triplet}", "a%2Fb%25zz%25"),
        ("{street}", "Gr%C3%B6%C3%9Fe"),
        ("{+encoded}", "%C3%A9%FF%C3%A9!"),
        ("{?a.b,Stra%C3%9Fe}", "?a.b=dotted&Stra%C3%9Fe=named"),
        ("x{/none}{?none}{#none}", "x"),
        ("/é'%c3%a9/{none}", "/%C3%A9'%c3%a9/"),
        ("", ""),
    ] {
        assert_eq!(template(text).expand(&variables), uri, "{text}");
    }
}

#[test]
fn a_template_is_its_text_and_its_names() {
    let text = "a://{b}/{+c,b}{?d.e,%20}";
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
        ("a/{var:3}", 6, "`{var:3}` is of level 4 of RFC 6570, and levels 1 to 3 are supported"),
        ("{/list*,b}", 6, "`{/list*,b}` is of level 4"),
        ("{a:}", 2, "after none or one of `+ # . / ; ? &`"),
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
    variables.insert("b", "2");
    variables.insert("a", "4".to_owned());
    assert_eq!(variables.len(), 2);
    assert_eq!(
        (variables.get("a"), variables.get("b"), variables.get("c")),
        (Some("4"), Some("2"), None)
    );
    assert_eq!(variables.iter().collect::<Vec<_>>(), [("a", "4"), ("b", "2")]);
}
