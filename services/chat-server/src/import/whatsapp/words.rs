//! Words that WhatsApp writes by itself, in the languages whose exports are known.

/// A half of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    /// Before noon.
    Before,
    /// After noon.
    After,
}

/// Words for the halves of the day, in lower case, without blanks and full stops. Longer ones before those that begin
/// like them.
const HALVES: [(&str, Half); 24] = [
    ("am", Half::Before),
    ("pm", Half::After),
    ("a m", Half::Before),
    ("p m", Half::After),
    ("vorm", Half::Before),
    ("nachm", Half::After),
    ("ap", Half::Before),
    ("ip", Half::After),
    ("de", Half::Before),
    ("du", Half::After),
    ("πμ", Half::Before),
    ("μμ", Half::After),
    ("öö", Half::Before),
    ("ös", Half::After),
    ("fm", Half::Before),
    ("em", Half::After),
    ("上午", Half::Before),
    ("下午", Half::After),
    ("午前", Half::Before),
    ("午後", Half::After),
    ("오전", Half::Before),
    ("오후", Half::After),
    ("ص", Half::Before),
    ("م", Half::After),
];

/// A word for a half of the day at the beginning of a text, and what follows it.
pub(super) fn half_of(text: &str) -> Option<(Half, &str)> {
    // The letters of the word, with the full stops and blanks between them: at most "p. m.".
    let mut letters = String::new();
    let mut best = None;
    for (at, c) in text.char_indices().take(10) {
        let rest = text.get(at..)?;
        if c.is_alphabetic() {
            letters.extend(c.to_lowercase());
        } else if c.is_whitespace() && !letters.is_empty() {
            // "p m." goes on after the blank, "pm - " does not.
        } else if c != '.' {
            break;
        }
        let after = rest.strip_prefix(c)?;
        let known = HALVES
            .iter()
            .find(|(word, _)| word.replace(' ', "") == letters);
        let goes_on = after
            .chars()
            .next()
            .is_some_and(|next| next.is_alphabetic() && next.is_ascii());
        if let Some((_, half)) = known.filter(|_| !goes_on) {
            best = Some((*half, after));
        }
    }
    best
}

/// What stands before the name of a chat in the name of its file.
pub(super) const FILE_NAMES: [&str; 16] = [
    "WhatsApp Chat with ",
    "WhatsApp Chat - ",
    "WhatsApp Chat – ",
    "WhatsApp-Chat mit ",
    "WhatsApp Chat mit ",
    "Chat de WhatsApp con ",
    "Chat WhatsApp con ",
    "Discussion WhatsApp avec ",
    "Conversa do WhatsApp com ",
    "WhatsApp-chat met ",
    "WhatsApp-chatt med ",
    "WhatsApp-keskustelu: ",
    "Czat WhatsApp z: ",
    "Чат WhatsApp с ",
    "WhatsApp Sohbeti - ",
    "与",
];

/// What Android writes behind the name of a file that is there.
pub(super) const ATTACHED: [&str; 13] = [
    "file attached",
    "datei angehängt",
    "archivo adjunto",
    "fichier joint",
    "file allegato",
    "arquivo anexado",
    "ficheiro anexado",
    "bestand bijgevoegd",
    "bifogad fil",
    "liitetiedosto",
    "plik dołączony",
    "файл добавлен",
    "dosya ekli",
];

/// What stands for a file that is not there, whatever it was.
pub(super) const MEDIA_OMITTED: [&str; 14] = [
    "media omitted",
    "medien ausgeschlossen",
    "medien weggelassen",
    "multimedia omitido",
    "archivo omitido",
    "médias omis",
    "media omessi",
    "mídia oculta",
    "ficheiro não revelado",
    "media weggelaten",
    "media utelämnades",
    "media jätettiin pois",
    "без медиафайлов",
    "medya dahil edilmedi",
];

use crate::model::AttachmentKind as Kind;

/// What stands for a file that is not there, by its kind (iOS).
pub(super) const KIND_OMITTED: [(&str, Kind); 25] = [
    ("image omitted", Kind::Image),
    ("gif omitted", Kind::Image),
    ("video omitted", Kind::Video),
    ("video note omitted", Kind::Video),
    ("audio omitted", Kind::Audio),
    ("sticker omitted", Kind::Sticker),
    ("document omitted", Kind::File),
    ("contact card omitted", Kind::File),
    ("bild weggelassen", Kind::Image),
    ("gif weggelassen", Kind::Image),
    ("video weggelassen", Kind::Video),
    ("audio weggelassen", Kind::Audio),
    ("sticker weggelassen", Kind::Sticker),
    ("dokument weggelassen", Kind::File),
    ("kontaktkarte ausgelassen", Kind::File),
    ("imagen omitida", Kind::Image),
    ("video omitido", Kind::Video),
    ("audio omitido", Kind::Audio),
    ("sticker omitido", Kind::Sticker),
    ("documento omitido", Kind::File),
    ("image absente", Kind::Image),
    ("vidéo absente", Kind::Video),
    ("audio omis", Kind::Audio),
    ("immagine omessa", Kind::Image),
    ("video omesso", Kind::Video),
];

/// What stands for a message that was taken back.
pub(super) const DELETED: [&str; 13] = [
    "this message was deleted",
    "you deleted this message",
    "diese nachricht wurde gelöscht",
    "du hast diese nachricht gelöscht",
    "se eliminó este mensaje",
    "eliminaste este mensaje",
    "ce message a été supprimé",
    "vous avez supprimé ce message",
    "questo messaggio è stato eliminato",
    "hai eliminato questo messaggio",
    "mensagem apagada",
    "dit bericht is verwijderd",
    "данное сообщение удалено",
];

/// What stands behind a message that was edited, without its angle brackets.
pub(super) const EDITED: [&str; 7] = [
    "this message was edited",
    "diese nachricht wurde bearbeitet",
    "se editó este mensaje",
    "ce message a été modifié",
    "questo messaggio è stato modificato",
    "mensagem editada",
    "dit bericht is bewerkt",
];

/// What iOS writes before the name of a file that is there: `<attached: NAME>`. An old form has it behind the name.
pub(super) const IOS_ATTACHED: [&str; 9] = [
    "attached",
    "anhang",
    "adjunto",
    "pièce jointe",
    "allegato",
    "anexado",
    "bijgevoegd",
    "bifogad",
    "приложение",
];

/// Calls and other things that WhatsApp says under somebody's name, and what they are.
pub(super) const EVENTS: [(&str, &str); 10] = [
    ("missed voice call", "missed_call"),
    ("missed video call", "missed_call"),
    ("missed group voice call", "missed_call"),
    ("missed group video call", "missed_call"),
    ("verpasster sprachanruf", "missed_call"),
    ("verpasster videoanruf", "missed_call"),
    ("voice call", "call"),
    ("video call", "call"),
    ("sprachanruf", "call"),
    ("videoanruf", "call"),
];

/// Messages whose contents never came or may be seen only once.
pub(super) const UNSEEN: [&str; 8] = [
    "null",
    "waiting for this message",
    "waiting for this message. this may take a while.",
    "view once voice message omitted",
    "view once photo",
    "view once video",
    "live location shared",
    "live-standort wird geteilt",
];
