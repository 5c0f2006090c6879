//! A request state is valid for one request of one caller, for a limited time, and only once if configured.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Step {
    asked: Vec<String>,
    round: u32,
}

fn step() -> Step {
    Step { asked: vec!["name".to_owned(), "age".to_owned()], round: 2 }
}

fn open_state(keys: &Keys, binding: &StateBinding<'_>, text: &str) -> Result<Step, TicketError> {
    binding.open(keys, text, 999).map(|ticket| ticket.content)
}

#[test]
fn a_state_is_good_for_its_request_and_caller_alone() {
    let keys = Keys::new(KEY);
    let text = BINDING.seal(&keys, &step(), 1000).unwrap();
    assert_eq!(open_state(&keys, &BINDING, &text), Ok(step()));
    let mut arguments = ARGUMENTS;
    arguments[31] ^= 1;
    let others = [
        StateBinding { principal: None, ..BINDING },
        StateBinding { principal: Some(""), ..BINDING },
        StateBinding { principal: Some("bob"), ..BINDING },
        StateBinding { method: "prompts/get", ..BINDING },
        StateBinding { method: "", ..BINDING },
        StateBinding { arguments, ..BINDING },
    ];
    for other in others {
        let error = open_state(&keys, &other, &text).unwrap_err();
        assert_eq!(error, TicketError::Unreadable, "{other:?}");
    }
    for forged in ["", "x", "requestState", &cursor(&keys, "tools/call", Some("ada"), "x").unwrap()]
    {
        let error = open_state(&keys, &BINDING, forged).unwrap_err();
        assert_eq!(error, TicketError::Unreadable, "{forged}");
    }
    let nobody = StateBinding { principal: None, ..BINDING };
    let text = nobody.seal(&keys, &step(), 1000).unwrap();
    assert_eq!(open_state(&keys, &nobody, &text), Ok(step()));
    let unnamed = StateBinding { principal: Some(""), ..BINDING };
    assert_eq!(open_state(&keys, &unnamed, &text), Err(TicketError::Unreadable));
}

#[test]
fn a_state_is_for_the_arguments_in_whatever_order() {
    let keys = Keys::new(KEY);
    let except = ["_meta", "inputResponses", "requestState"];
    let binding = |params: &str| StateBinding {
        arguments: digest("tools/call", &serde_json::from_str(params).unwrap(), &except),
        ..BINDING
    };
    let first = binding(r#"{"name": "pay", "arguments": {"to": "bob", "sum": 10}}"#);
    let text = first.seal(&keys, &step(), 1000).unwrap();
    let again = r#"{"requestState": "…", "inputResponses": {"sure": true}, "_meta": {"a": 1},
        "arguments": {"sum": 10, "to": "bob"}, "name": "pay"}"#;
    assert_eq!(open_state(&keys, &binding(again), &text), Ok(step()));
    let more = again.replace("10", "11");
    assert_eq!(open_state(&keys, &binding(&more), &text), Err(TicketError::Unreadable));
}

#[test]
fn a_state_expires_and_says_so_to_its_owner_alone() {
    let keys = Keys::new(KEY);
    let text = BINDING.seal(&keys, &step(), 1000).unwrap();
    let open = |binding: &StateBinding<'_>, now| {
        binding.open::<Step>(&keys, &text, now).map(|ticket| ticket.expires)
    };
    assert_eq!(open(&BINDING, 999), Ok(1000));
    assert_eq!(open(&BINDING, 1000), Err(TicketError::Expired));
    assert_eq!(open(&BINDING, u64::MAX), Err(TicketError::Expired));
    let other = StateBinding { principal: None, ..BINDING };
    assert_eq!(open(&other, 1000), Err(TicketError::Unreadable));
    assert!(unix_now() > 1_700_000_000 && unix_now() < u64::MAX);
}

#[test]
fn content_of_another_shape_or_that_is_no_json_is_an_error() {
    let keys = Keys::new(KEY);
    let text = BINDING.seal(&keys, &json!({ "asked": 1 }), 1000).unwrap();
    assert_eq!(open_state(&keys, &BINDING, &text), Err(TicketError::Unreadable));
    let no_json = std::collections::BTreeMap::from([(vec![1], 1)]);
    let error = BINDING.seal(&keys, &no_json, 1000).unwrap_err();
    assert!(matches!(error, SealError::Content(_)), "{error}");
}

fn ticket(keys: &Keys, expires: u64) -> Ticket<()> {
    let text = BINDING.seal(keys, &(), expires).unwrap();
    BINDING.open(keys, &text, 0).unwrap()
}

#[test]
fn a_ticket_is_used_once_until_it_expires() {
    let keys = Keys::new(KEY);
    let used = UsedOnce::default();
    let (one, two) = (ticket(&keys, 1000), ticket(&keys, 1000));
    assert_eq!(used.accept(&one, None, 10), Ok(()));
    assert_eq!(used.accept(&one, None, 10), Err(TicketError::Used));
    assert_eq!(used.accept(&one, None, 999), Err(TicketError::Used));
    assert_eq!(used.accept(&two, None, 999), Ok(()));
    assert_eq!(used.accept(&one, None, 1000), Err(TicketError::Expired));
    // Both are forgotten now; a clock that is set back does not bring them back.
    assert_eq!(used.accept(&one, None, 10), Err(TicketError::Expired));
    assert_eq!(used.accept(&ticket(&keys, 1001), None, 10), Ok(()));
}

#[test]
fn when_full_nothing_is_pushed_out_before_its_time() {
    let keys = Keys::new(KEY);
    let used = UsedOnce::new(2);
    let (one, two, three) = (ticket(&keys, 1000), ticket(&keys, 2000), ticket(&keys, 3000));
    assert_eq!(used.accept(&two, None, 10), Ok(()));
    assert_eq!(used.accept(&one, None, 10), Ok(()));
    assert_eq!(used.accept(&three, None, 999), Err(TicketError::Full));
    assert_eq!(used.accept(&one, None, 999), Err(TicketError::Used));
    assert_eq!(used.accept(&three, None, 1000), Ok(()));
    assert_eq!(used.accept(&two, None, 1000), Err(TicketError::Used));
    assert_eq!(used.accept(&ticket(&keys, 4000), None, 1000), Err(TicketError::Full));
    assert_eq!(UsedOnce::new(0).accept(&three, None, 10), Err(TicketError::Full));
}

#[test]
fn one_caller_fills_its_share_and_no_more() {
    let keys = Keys::new(KEY);
    let used = UsedOnce::new(20);
    let ticket = |expires| ticket(&keys, expires);
    assert_eq!(used.accept(&ticket(1000), Some("ann"), 10), Ok(()));
    assert_eq!(used.accept(&ticket(2000), Some("ann"), 10), Ok(()));
    let third = ticket(2000);
    assert_eq!(used.accept(&third, Some("ann"), 10), Err(TicketError::Full));
    assert_eq!(used.accept(&ticket(2000), Some("bob"), 10), Ok(()));
    // Callers without a principal have no share.
    for _ in 3..20 {
        assert_eq!(used.accept(&ticket(2000), None, 10), Ok(()));
    }
    assert_eq!(used.accept(&ticket(2000), None, 10), Err(TicketError::Full));
    // One of hers has expired.
    assert_eq!(used.accept(&third, Some("ann"), 1000), Ok(()));
    assert_eq!(used.accept(&ticket(2000), Some("ann"), 1000), Err(TicketError::Full));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_state_opens_for_an_equal_binding_only(
        principals in vec(proptest::option::of("[a-b]{0,2}"), 2),
        methods in vec("[a-b]{0,2}", 2),
        names in vec("[a-b]{1,1}", 2),
    ) {
        let keys = Keys::new(KEY);
        let binding = |at: usize| {
            let params: Map<String, Value> = [("name".to_owned(), json!(names[at]))].into_iter().collect();
            StateBinding {
                principal: principals[at].as_deref(),
                method: &methods[at],
                arguments: digest(&methods[at], &params, &[]),
            }
        };
        let same = principals[0] == principals[1] && methods[0] == methods[1] && names[0] == names[1];
        let text = binding(0).seal(&keys, &step(), 1000).unwrap();
        let opened = open_state(&keys, &binding(1), &text);
        prop_assert_eq!(opened, if same { Ok(step()) } else { Err(TicketError::Unreadable) });
    }
}
