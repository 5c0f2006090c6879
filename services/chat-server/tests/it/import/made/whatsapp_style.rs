//! How telephones write: the frame, the date and the clock, in any combination, and the words of a language.

use jiff::civil::DateTime;
use proptest::prelude::*;

use chat_server::import::DayOrder;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phone {
    Ios,
    OldIos,
    Android,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) phone: Phone,
    pub(super) order: DayOrder,
    separator: &'static str,
    padded: bool,
    long_year: bool,
    after: &'static str,
    colon: char,
    /// Before noon, after noon, the blank between them and the clock, and whether they come before it.
    halves: Option<(&'static str, &'static str, &'static str, bool)>,
    arabic_digits: bool,
    /// Marks of direction around numbers.
    marks: bool,
    pub(super) crlf: bool,
    pub(super) bom: bool,
    pub(super) zip: bool,
    /// Whether the day order is given, although the file may show it.
    pub(super) told: bool,
    pub(super) words: &'static Words,
}

/// What WhatsApp writes in a language.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) file: &'static str,
    pub(super) attached: &'static str,
    pub(super) omitted: &'static str,
    pub(super) ios_attached: &'static str,
    /// A picture, a film, a sound, a document.
    pub(super) ios_omitted: [&'static str; 4],
    pub(super) deleted: &'static str,
    pub(super) edited: &'static str,
    pub(super) place: &'static str,
    pub(super) poll: &'static str,
    pub(super) option: &'static str,
    pub(super) votes: &'static str,
}

const fn words(
    [file, attached, omitted, ios_attached, deleted, edited, place]: [&'static str; 7],
    ios_omitted: [&'static str; 4],
    [poll, option, votes]: [&'static str; 3],
) -> Words {
    Words {
        file,
        attached,
        omitted,
        ios_attached,
        ios_omitted,
        deleted,
        edited,
        place,
        poll,
        option,
        votes,
    }
}

#[rustfmt::skip]
static LANGUAGES: [Words; 6] = [
    words(["WhatsApp Chat with ", "file attached", "Media omitted", "attached", "This message was deleted", "This message was edited", "location"],
        ["image omitted", "video omitted", "audio omitted", "document omitted"], ["POLL", "OPTION", "votes"]),
    words(["WhatsApp-Chat mit ", "Datei angehängt", "Medien ausgeschlossen", "Anhang", "Diese Nachricht wurde gelöscht.", "Diese Nachricht wurde bearbeitet.", "Standort"],
        ["Bild weggelassen", "Video weggelassen", "Audio weggelassen", "Dokument weggelassen"], ["UMFRAGE", "OPTION", "Stimmen"]),
    words(["Chat de WhatsApp con ", "archivo adjunto", "Multimedia omitido", "adjunto", "Se eliminó este mensaje.", "Se editó este mensaje.", "ubicación"],
        ["imagen omitida", "video omitido", "audio omitido", "documento omitido"], ["ENCUESTA", "OPCIÓN", "votos"]),
    words(["Discussion WhatsApp avec ", "fichier joint", "Médias omis", "pièce jointe", "Ce message a été supprimé", "Ce message a été modifié", "localisation"],
        ["image absente", "vidéo absente", "audio omis", "document omis"], ["SONDAGE", "OPTION", "votes"]),
    words(["Chat WhatsApp con ", "file allegato", "Media omessi", "allegato", "Questo messaggio è stato eliminato.", "Questo messaggio è stato modificato", "posizione"],
        ["immagine omessa", "video omesso", "audio omesso", "documento omesso"], ["SONDAGGIO", "OPZIONE", "voti"]),
    words(["WhatsApp-chat met ", "bestand bijgevoegd", "Media weggelaten", "bijgevoegd", "Dit bericht is verwijderd.", "Dit bericht is bewerkt", "locatie"],
        ["afbeelding weggelaten", "video weggelaten", "audio weggelaten", "document weggelaten"], ["PEILING", "OPTIE", "stemmen"]),
];

/// Of these languages, with the blanks that telephones set: ordinary, no-break, narrow no-break.
const HALVES: [Option<(&str, &str, &str, bool)>; 15] = [
    None,
    Some(("AM", "PM", " ", false)),
    Some(("AM", "PM", "\u{202f}", false)),
    Some(("am", "pm", "\u{a0}", false)),
    Some(("am", "pm", "", false)),
    Some(("a.m.", "p.m.", " ", false)),
    Some(("a.\u{a0}m.", "p.\u{a0}m.", "\u{a0}", false)),
    Some(("a. m.", "p. m.", "\u{202f}", false)),
    Some(("上午", "下午", "", true)),
    Some(("오전", "오후", " ", true)),
    Some(("de.", "du.", " ", true)),
    Some(("ص", "م", " ", false)),
    Some(("π.μ.", "μ.μ.", " ", false)),
    Some(("vorm.", "nachm.", " ", false)),
    Some(("ÖÖ", "ÖS", " ", true)),
];

pub(super) fn style() -> impl Strategy<Value = Style> {
    (
        prop_oneof![
            Just(Phone::Ios),
            Just(Phone::Android),
            Just(Phone::Android),
            Just(Phone::OldIos)
        ],
        prop_oneof![
            Just(DayOrder::DayFirst),
            Just(DayOrder::MonthFirst),
            Just(DayOrder::YearFirst)
        ],
        prop::sample::select(&["/", ".", "-", ". "][..]),
        prop::sample::select(&[", ", " ", ". ", " klo ", " à ", " г., ", "., "][..]),
        prop::sample::select(&[':', '.'][..]),
        prop::sample::select(&HALVES[..]),
        prop::sample::select((0..LANGUAGES.len()).collect::<Vec<_>>()),
        any::<[bool; 8]>(),
    )
        .prop_map(|(phone, order, separator, after, colon, halves, language, flags)| {
            let [padded, long_year, arabic, marks, crlf, bom, zip, told] = flags;
            Style {
                phone,
                order,
                separator,
                padded,
                long_year,
                after,
                colon,
                halves,
                arabic_digits: arabic && marks,
                marks: marks && !told,
                crlf,
                bom,
                zip,
                told,
                words: &LANGUAGES[language],
            }
        })
}

impl Style {
    /// Whether the file shows the order of its dates: else it must be given.
    pub(super) fn tells_order(&self, days: impl Iterator<Item = i8>) -> bool {
        match self.order {
            DayOrder::YearFirst => self.long_year,
            _ => days.max().is_some_and(|day| day > 12),
        }
    }

    pub(super) fn header(&self, at: DateTime) -> String {
        let two =
            |number: i8| if self.padded { format!("{number:02}") } else { number.to_string() };
        let year =
            if self.long_year { at.year().to_string() } else { format!("{:02}", at.year() % 100) };
        let (day, month) = (two(at.day()), two(at.month()));
        let date = match self.order {
            DayOrder::DayFirst => [day, month, year],
            DayOrder::MonthFirst => [month, day, year],
            DayOrder::YearFirst => [year, month, day],
        };
        let mark = if self.marks { "\u{200f}" } else { "" };
        let date = date.join(&format!("{mark}{}", self.separator));
        let hour = match self.halves {
            None => format!("{:02}", at.hour()),
            Some(_) => two((at.hour() + 11) % 12 + 1),
        };
        let mut clock = format!("{hour}{}{:02}", self.colon, at.minute());
        if self.phone != Phone::Android {
            clock.push_str(&format!("{}{:02}", self.colon, at.second()));
        }
        if let Some((before, after, blank, first)) = self.halves {
            let half = if at.hour() < 12 { before } else { after };
            clock = if first {
                format!("{half}{blank}{clock}")
            } else {
                format!("{clock}{blank}{half}")
            };
        }
        let mut when = format!("{date}{}{clock}", self.after);
        if self.arabic_digits {
            when = when
                .chars()
                .map(|c| c.to_digit(10).map_or(c, |digit| char::from_u32(0x660 + digit).unwrap()))
                .collect();
        }
        match self.phone {
            Phone::Ios => format!("[{when}] "),
            Phone::OldIos => format!("{when}: "),
            Phone::Android => format!("{when} - "),
        }
    }

    /// A line that looks like a message in another file.
    pub(super) fn quote(&self) -> &'static str {
        match self.phone {
            Phone::Android => "\n[13/12/2023, 18:05:09] Bob: quoted",
            _ => "\n13/12/2023, 18:05 - Bob: quoted",
        }
    }
}
