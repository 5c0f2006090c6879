//! A live feed of killmails: what happened in the last hour. It distinguishes camps from fights.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::Value;

use super::mail::{Mail, Tags};
use super::{Activity, OLD_SECONDS};
use crate::errors::shown;

/// The most killmails that are kept; the newest are. The whole game has about 1,000 in an hour.
pub const MAX_MAILS: usize = 20_000;
/// How long a killmail counts, in seconds.
const KEPT: i64 = 3_600;
/// How many seconds back the search for a camp or a fight goes.
const WINDOW: i64 = 1_800;
/// How long after its last kill a camp or a fight counts as active, in seconds.
const GONE: i64 = 1_200;
/// The number of seconds after which a kill counts half.
const HALF_LIFE: f64 = 900.0;
/// A camp has at least this many victims, over at least [`CAMP_SECONDS`]: a single clash is shorter.
const CAMP_VICTIMS: usize = 3;
const CAMP_SECONDS: i64 = 240;
/// A gank in high security has at least this many attackers, or a punishment by CONCORD goes with it.
const GANKERS: usize = 4;
/// After so many seconds without a line a feed is taken for silent. In the whole game ships die every minute.
const SILENT: u64 = 900;
/// A fight has at least this many kills.
const FIGHT_KILLS: usize = 4;
/// How many seconds the local clock may be behind the clock of the feed.
const AHEAD: i64 = 300;

/// The killmails of the last hour.
#[derive(Debug)]
pub struct Feed {
    mails: VecDeque<Mail>,
    ids: HashSet<u64>,
    newest: Option<i64>,
    report: FeedReport,
    /// When the last line came, or when it began.
    heard: SystemTime,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            mails: VecDeque::new(),
            ids: HashSet::new(),
            newest: None,
            report: FeedReport::default(),
            heard: SystemTime::now(),
        }
    }
}

/// What came from a feed, and what was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FeedReport {
    /// How many killmails, or lines that are none, came since the start.
    pub lines: u64,
    /// How many of them were not understood.
    pub not_understood: u64,
    /// What was wrong with the first of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// How many killmails of the last hour are kept.
    pub kept: usize,
    /// How many seconds ago the last line came, or the feed began.
    pub silent_seconds: u64,
}

/// The activity in a system, according to its killmails.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The pattern of the kills.
    pub kind: SceneKind,
    /// By what ships were held or hit in the last half an hour.
    pub tags: Tags,
    /// The stargates where ships were killed in the last half an hour, the most kills first.
    pub gates: Vec<u32>,
    /// The sum over the kills of the last hour. The weight of a kill is halved every 15 minutes.
    pub heat: f64,
}

/// The pattern that several kills form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SceneKind {
    /// One side has killed at least three pilots over at least four minutes, mostly at gates, and has hardly any
    /// losses.
    Camp,
    /// In high security, players killed others in spite of CONCORD: four or more of them, or CONCORD punished them.
    Gank,
    /// Several sides kill each other: there are at least four kills, and a quarter of them hit a side that also kills.
    Fight,
    /// Neither of the two, or it has ended.
    Kills,
}

impl Feed {
    /// Takes one line of a feed: a killmail, or an array of them. Returns whether there was a new one that counts.
    pub fn take(&mut self, line: &[u8]) -> bool {
        match serde_json::from_slice(line) {
            Ok(Value::Array(list)) => {
                list.into_iter().fold(false, |any, it| self.take_one(Mail::read(it)) | any)
            }
            Ok(one) => self.take_one(Mail::read(one)),
            Err(error) => self.take_one(Err(error.to_string())),
        }
    }

    fn take_one(&mut self, mail: Result<Option<Mail>, String>) -> bool {
        self.report.lines += 1;
        self.heard = SystemTime::now();
        let mail = match mail {
            Ok(mail) => mail,
            Err(error) => {
                self.report.not_understood += 1;
                if self.report.first_error.is_none() {
                    tracing::warn!("a line of the feed is not a killmail and is skipped: {error}");
                    self.report.first_error = Some(shown(&error));
                }
                return false;
            }
        };
        let Some(mail) = mail.filter(|mail| self.ids.insert(mail.id)) else {
            return false;
        };
        let newest = self.newest.map_or(mail.time, |newest| newest.max(mail.time));
        self.newest = Some(newest);
        self.mails.push_back(mail);
        while let Some(first) = self.mails.front()
            && (self.mails.len() > MAX_MAILS || first.time < newest - KEPT)
        {
            self.ids.remove(&first.id);
            self.mails.pop_front();
        }
        true
    }

    /// How many killmails are kept.
    pub fn len(&self) -> usize {
        self.mails.len()
    }

    /// Whether no killmails are kept.
    pub fn is_empty(&self) -> bool {
        self.mails.is_empty()
    }

    /// What happened in the last hour, according to the feed and a dump. If the dump is less than an hour old, the
    /// larger of the two kill counts is used for each system. Jumps, ratting and warfare are not in the feed and come
    /// from the dump.
    /// `is_high` says whether a system is of high security.
    pub fn overlay(
        &self,
        dump: Option<&Activity>,
        now: SystemTime,
        is_high: &dyn Fn(u32) -> bool,
    ) -> Activity {
        let mut activity = dump.cloned().unwrap_or_default();
        activity.feed = Some(FeedReport {
            kept: self.mails.len(),
            silent_seconds: now.duration_since(self.heard).unwrap_or_default().as_secs(),
            ..self.report.clone()
        });
        let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX);
        let Some(newest) = self.newest.map(|newest| newest.min(seconds)) else {
            return activity;
        };
        let dump_age = activity.age_seconds(now).filter(|_| activity.has.kills);
        if dump_age.is_none_or(|age| age > OLD_SECONDS) {
            for figures in activity.systems.values_mut() {
                (figures.ship_kills, figures.pod_kills) = (0, 0);
            }
        }
        let mut by_system: HashMap<u32, Vec<&Mail>> = HashMap::new();
        let counts = |mail: &&Mail| (seconds - KEPT..=seconds + AHEAD).contains(&mail.time);
        for mail in self.mails.iter().filter(counts) {
            by_system.entry(mail.system).or_default().push(mail);
        }
        for (system, mails) in by_system {
            let counted = || mails.iter().filter(|mail| !mail.by_concord);
            let pods = counted().filter(|mail| mail.is_pod).count();
            let ships = u32::try_from(counted().count() - pods).unwrap_or(u32::MAX);
            let pods = u32::try_from(pods).unwrap_or(u32::MAX);
            let figures = activity.systems.entry(system).or_default();
            figures.ship_kills = figures.ship_kills.max(ships);
            figures.pod_kills = figures.pod_kills.max(pods);
            activity.scenes.insert(system, Scene::of(&mails, seconds, is_high(system)));
        }
        activity.has.kills = true;
        let newest = Duration::from_secs(u64::try_from(newest).unwrap_or_default());
        let newest_at = SystemTime::UNIX_EPOCH + newest;
        let dumped = activity.written.filter(|_| dump_age.is_some());
        activity.kills_written = Some(dumped.map_or(newest_at, |dumped| dumped.max(newest_at)));
        activity
    }
}

impl FeedReport {
    /// The report as a sentence, if there is something to say: lines that were not understood, or nothing heard yet.
    pub fn sentence(&self) -> Option<String> {
        let Self { lines, not_understood, silent_seconds: silent, .. } = self;
        match &self.first_error {
            Some(error) => Some(format!(
                "Feed: of {lines} lines {not_understood} were not understood; the first: {error}"
            )),
            None if *lines == 0 => Some(format!(
                "Feed: no killmail has come since the start, {silent} seconds ago, so nothing is known of kills now"
            )),
            None => (*silent > SILENT)
                .then(|| format!("Feed: nothing has come for {} minutes", silent / 60)),
        }
    }
}

impl Scene {
    fn of(mails: &[&Mail], now: i64, is_high: bool) -> Self {
        let age = |mail: &Mail| (now - mail.time).max(0);
        let heat = |mail: &&Mail| (-(age(mail) as f64) / HALF_LIFE).exp2();
        let punished = mails.iter().any(|mail| mail.by_concord);
        let mails: Vec<&Mail> = mails.iter().filter(|mail| !mail.by_concord).copied().collect();
        let recent: Vec<&Mail> = mails.iter().filter(|it| age(it) <= WINDOW).copied().collect();
        let is_active = recent.iter().any(|mail| age(mail) <= GONE);
        let ganked = mails.iter().any(|mail| punished || mail.pilots >= GANKERS);
        let kind = match () {
            () if is_high && ganked => SceneKind::Gank,
            () if is_active => SceneKind::of(&recent),
            () => SceneKind::Kills,
        };
        let mut gates: BTreeMap<u32, usize> = BTreeMap::new();
        for gate in recent.iter().filter_map(|mail| mail.gate).filter(|gate| *gate != 0) {
            *gates.entry(gate).or_default() += 1;
        }
        let mut gates: Vec<(u32, usize)> = gates.into_iter().collect();
        gates.sort_by_key(|(_, kills)| std::cmp::Reverse(*kills));
        Self {
            kind,
            tags: Tags {
                interdictors: recent.iter().any(|mail| mail.tags.interdictors),
                smartbombs: recent.iter().any(|mail| mail.tags.smartbombs),
            },
            gates: gates.into_iter().map(|(gate, _)| gate).collect(),
            heat: mails.iter().map(heat).sum(),
        }
    }

    /// Whether all of it is at other gates than these, as far as is known. Without gates nothing is.
    pub fn is_beside(&self, passed: &[u32]) -> bool {
        let at = |gate: &u32| passed.contains(gate);
        !passed.is_empty() && !self.gates.is_empty() && !self.gates.iter().any(at)
    }

    /// Whether ships that pass are in danger.
    pub fn is_danger(&self) -> bool {
        matches!(self.kind, SceneKind::Camp | SceneKind::Gank) || self.tags.smartbombs
    }
}

impl SceneKind {
    /// The word for it in answers.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Camp => "camp",
            Self::Gank => "gank",
            Self::Fight => "fight",
            Self::Kills => "kills",
        }
    }

    fn of(mails: &[&Mail]) -> Self {
        let mut kills_of: HashMap<u64, usize> = HashMap::new();
        for side in mails.iter().flat_map(|mail| &mail.attackers) {
            *kills_of.entry(*side).or_default() += 1;
        }
        let hit_back = mails.iter().filter(|mail| kills_of.contains_key(&mail.side));
        let hit_back = hit_back.count();
        if mails.len() >= FIGHT_KILLS && hit_back * 4 >= mails.len() {
            return Self::Fight;
        }
        let victims: HashSet<u64> = mails.iter().map(|mail| mail.victim).collect();
        let times = || mails.iter().map(|mail| mail.time);
        let span = times().max().unwrap_or_default() - times().min().unwrap_or_default();
        let most = kills_of.values().max().copied().unwrap_or_default();
        let placed = mails.iter().filter_map(|mail| mail.gate);
        let (at_gates, elsewhere): (Vec<u32>, Vec<u32>) = placed.partition(|gate| *gate != 0);
        let is_camp = victims.len() >= CAMP_VICTIMS
            && span >= CAMP_SECONDS
            && most * 10 >= mails.len() * 6
            && hit_back * 4 < mails.len()
            && at_gates.len() >= elsewhere.len();
        if is_camp { Self::Camp } else { Self::Kills }
    }
}
