//! The addresses of chats and attachments.

use chat_server::view::uri::{ATTACHMENT, Listening, MESSAGES, attachment, messages};
use mcp_proto::uri_template::UriTemplate;
use proptest::prelude::*;

proptest! {
    #[test]
    fn whatever_a_chat_is_called_its_address_leads_back(source in "[a-z0-9-]{1,20}", chat in ".{1,40}") {
        prop_assume!(chat != "*");
        let uri = messages(&source, &chat);
        let template: UriTemplate = MESSAGES.parse().unwrap();
        let asked = template.match_uri(&uri).unwrap();
        prop_assert_eq!(asked.get("source"), Some(&*source));
        prop_assert_eq!(asked.get("chat"), Some(&*chat));
        let listening = Listening::parse(&uri).unwrap().unwrap();
        prop_assert_eq!(listening.source, Some(source));
        prop_assert_eq!(listening.chat, Some(chat));
    }

    #[test]
    fn so_does_that_of_an_attachment(chat in ".{1,40}", message in ".{1,40}", n in 0_usize..100) {
        let uri = attachment("telegram", &chat, &message, n);
        let template: UriTemplate = ATTACHMENT.parse().unwrap();
        let asked = template.match_uri(&uri).unwrap();
        prop_assert_eq!(asked.get("chat"), Some(&*chat));
        prop_assert_eq!(asked.get("message"), Some(&*message));
        prop_assert_eq!(asked.get("n"), Some(&*n.to_string()));
    }

    #[test]
    fn no_text_breaks_what_takes_addresses_apart(text in "(messages://)?.{0,60}") {
        if let Some(Ok(listening)) = Listening::parse(&text) {
            prop_assert_ne!(listening.source.as_deref(), Some("*"));
            prop_assert_ne!(listening.chat.as_deref(), Some(""));
        }
    }
}

#[test]
fn filters_are_in_the_query() {
    let parse = |uri| Listening::parse(uri).unwrap();
    let listening = parse("messages://*/*?chat=An%20n&sender=B%26b&search=%3D&limit=5").unwrap();
    assert_eq!((listening.source, listening.chat), (None, None));
    assert_eq!(listening.chat_filter.as_deref(), Some("An n"));
    assert_eq!(listening.sender.as_deref(), Some("B&b"));
    assert_eq!(listening.search.as_deref(), Some("="));
    assert_eq!(parse("messages://a/b?x=1"), Err("x".to_owned()));
    for none in
        ["messages://a", "messages://a/b/c", "messages:///b", "other://a/b", "messages://a/%FF"]
    {
        assert_eq!(Listening::parse(none), None, "{none}");
    }
}
