//! Shares, totals, and what is given back.

use super::*;

/// How much of the calls one client holds, and all together.
fn held(client: &Client) -> (usize, usize) {
    let (_, _, all) = client.0.counts(Kind::Calls).unwrap();
    (client.amount(Kind::Calls), all.load(Ordering::Relaxed))
}

fn budget(total: usize, share: usize) -> Budget {
    Budget::new(&[(Kind::Calls, Bound { total, share })])
}

fn address(last: u8) -> ClientName {
    ClientName::of_address([127, 0, 0, last].into())
}

#[test]
fn what_is_dropped_is_given_back_to_both() {
    let budget = budget(100, 50);
    let client = budget.client(address(1));
    let mut held = client.hold(Kind::Calls, 30).unwrap();
    held.grow(20).unwrap();
    assert!(held.grow(1).unwrap_err().is_share);
    held.set(10).unwrap();
    assert_eq!(self::held(&client), (10, 10));
    held.set(50).unwrap();
    assert_eq!(self::held(&client), (50, 50));
    drop(held);
    assert_eq!(self::held(&client), (0, 0));
}

#[test]
fn a_client_that_holds_its_share_leaves_the_rest_to_others() {
    let budget = budget(100, 50);
    let greedy = budget.client(address(2));
    let _all = greedy.hold(Kind::Calls, 50).unwrap();
    let over = greedy.hold(Kind::Calls, 1).unwrap_err();
    assert_eq!((over.is_share, over.max), (true, 50));
    let other = budget.client(address(1));
    assert!(other.hold(Kind::Calls, 40).is_ok());
}

#[test]
fn the_last_tenth_is_for_those_that_hold_next_to_nothing() {
    let budget = budget(1_000, 500);
    let (one, two) = (budget.client(address(2)), budget.client(address(3)));
    let _one = one.hold(Kind::Calls, 500).unwrap();
    let mut held = two.hold(Kind::Calls, 400).unwrap();
    assert!(!held.grow(1).unwrap_err().is_share);
    let newcomer = budget.client(address(4));
    let _few = newcomer.hold(Kind::Calls, 10).unwrap();
    assert!(newcomer.hold(Kind::Calls, 1).is_err());
}

#[test]
fn a_refusal_leaves_nothing_behind_and_accounts_that_are_gone_go() {
    let budget = budget(10, 5);
    let client = budget.client(address(1));
    client.hold(Kind::Calls, 6).unwrap_err();
    assert_eq!(held(&client), (0, 0));
    for n in 0..10_000_u32 {
        drop(budget.client(ClientName::of_address(IpAddr::from(n.to_be_bytes()))));
    }
    assert!(budget.0.accounts.locked().by_client.len() <= 2 * FEW);
}

#[test]
fn a_network_of_ipv6_is_one_client_and_mapped_ipv4_is_ipv4() {
    let name = |text: &str| ClientName::of_address(text.parse().unwrap());
    assert_eq!(name("2001:db8::1"), name("2001:db8::ffff:1"));
    assert_ne!(name("2001:db8::1"), name("2001:db8:0:1::1"));
    assert_eq!(name("::ffff:127.0.0.1"), name("127.0.0.1"));
    assert_ne!(name("127.0.0.2"), name("127.0.0.1"));
}

#[test]
fn clients_of_which_nothing_is_known_share_the_whole() {
    let budget = budget(100, 50);
    let unknown = budget.client(ClientName::Unknown);
    assert!(unknown.hold(Kind::Calls, 100).is_ok());
}

#[test]
fn an_answer_larger_than_the_bounds_is_given_when_no_other_waits() {
    let bound = Bound { total: 100, share: 50 };
    let budget = Budget::new(&[(Kind::AnswerBytes, bound)]);
    let (one, two) = (budget.client(address(1)), budget.client(address(2)));
    one.may_answer().unwrap();
    let text = one.keep(Bytes::from_static(&[0; 200])).unwrap();
    assert!(one.may_answer().unwrap_err().is_share);
    assert!(one.hold_answer(1).unwrap_err().is_share);
    assert!(!two.hold_answer(60).unwrap_err().is_share);
    let part = text.slice(3..5);
    drop(text);
    one.hold_answer(1).unwrap_err();
    drop(part);
    drop(one.hold_answer(1).unwrap());
    two.hold_answer(60).unwrap();
    let _little = one.hold_answer(1).unwrap();
    one.hold_answer(70).unwrap();
}
